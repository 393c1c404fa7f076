/** What people and models ask for, in their own words, and the tool that they mean. Some are misspelt or cut short. */
export const SEARCH_QUERIES: readonly (readonly [query: string, tool: string])[] = `
open a new issue on github > github__create_issue
list pull requests > github__list_pull_requests
close and remove an issue > github__delete_issue
find releases in a repo > github__search_releases
start a workflow run > github__create_workflow_run
which branches does the repository have > github__list_branches
make a merge request > gitlab__create_merge_request
delete gitlab pipeline > gitlab__delete_pipeline
new milestone > gitlab__create_milestone
create jira ticket > jira__createTicket
log work: find worklogs > jira__searchWorklogs
edit the sprint > jira__updateSprint
show roadmaps > linear__listRoadmaps
post a message to slack > slack__create_message
search slack messages > slack__search_messages
remind me: create reminder > slack__create_reminder
add an emoji to discord > discord__create-emoji
ban someone from the guild > discord__create-ban
list my emails > gmail__list_emails
write a draft mail > gmail__create_draft
get the attachment of an email > gmail__get_attachment
change a calendar event > outlook__updateCalendarEvent
find a meeting room > outlook__searchMeetingRooms
outOfOfficeReply get > outlook__getOutOfOfficeReply
create a notion page > notion__create-page
read a database row in notion > notion__get-database-row
write wiki article > confluence__createWikiArticle
refund a charge > stripe__create_refund
cancel subscription for a customer > stripe__delete_subscription
list invoices > stripe__list_invoices
edit order in the shop > shopify__update_order
find discount codes > shopify__search_discount_codes
inventory level lookup > shopify__search_inventory_levels
new sales lead > salesforce__createLead
search opportunities > salesforce__searchOpportunities
add a company to hubspot > hubspot__create_company
help article search > zendesk__search-help-articles
list s3 bucket objects > aws__listBucketObjects
create lambda > aws__createLambdaFunction
launch an ec2 instance > aws__createEc2Instance
virtual machine remove > gcloud__delete_virtual_machine
search log entries > gcloud__search_log_entries
read secret from key vault > azure__getKeyVaultSecret
cost report azure > azure__getCostReport
create kubernetes pod > kubernetes__create_pod
kubernets deployments list > kubernetes__list_deployments
delete docker image > docker__delete-image
create table in postgres > postgres__create_table
find json documents in mongo > mongodb__searchJsonDocuments
get cache key redis > redis__get_cache_key
take a snapshot of the elasticsearch cluster > elasticsearch__create_snapshot
create file > filesystem__create_file
list directories > filesystem__list_folders
open a new browser tab > browser__create-tab
screenshot of a tab > browser__get-screenshot
make a playlist on spotify > spotify__createPlaylist
search podcast episodes > spotify__searchPodcastEpisodes
download a youtube video > youtube__export_video
plan a route on the map > maps__createRoute
how long is the travel time > maps__getTravelTime
weather forecast for a city > weather__get_forecast
storm alerts > weather__search_storm_alerts
polen count search > weather__search_pollen_counts
get my boarding pass > flights__get-boarding-pass
list flights > flights__list-flights
book a hotel: create reservation > hotels__createReservation
transfer money to another bank account > banking__create_bank_transfer
curency exchange rate > banking__get_exchange_rate
share price of a stock > stocks__searchSharePrices
my portfolio > stocks__getPortfolio
export figma component > figma__export-component
search errors in sentry > sentry__search_error_events
new datadog dashboard > datadog__createDashboard
record a workout: list workouts > fitness__list_workouts
heart rate > fitness__get_heart_rate
set the thermostat > smarthome__updateThermostat
lock the door > smarthome__updateDoorLock
turn on the lights: list lights > smarthome__listLights
detect the language > translation__create-language-detection
subtitels for a video > translation__search-subtitles`
  .trim()
  .split("\n")
  .map((line) => {
    const [query = "", tool = ""] = line.split(" > ");
    return [query, tool] as const;
  });
