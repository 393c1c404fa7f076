/** What services have: how they write names, and their things, five each, with the thing that each belongs to. */
export const SERVICES = `
github snake: issue@repository, pull_request@repository, release@repository, branch@repository, workflow_run@repository
gitlab snake: merge_request@project, pipeline@project, milestone@project, code_snippet@group, package_registry@project
jira camel: ticket@project, sprint@board, epic@project, worklog@ticket, board@project
linear camel: cycle@team, initiative@workspace, roadmap@workspace, triage_rule@team, label@team
slack snake: message@channel, channel@workspace, reaction@message, reminder@workspace, canvas@channel
discord kebab: guild_role@guild, voice_channel@guild, thread@channel, emoji@guild, ban@guild
gmail snake: email@mailbox, draft@mailbox, mail_label@mailbox, mail_filter@mailbox, attachment@email
outlook camel: calendar_event@calendar, meeting_room@building, contact@address_book, out_of_office_reply@mailbox, task_list@account
notion kebab: page@workspace, block@page, database_row@database, comment@page, template@workspace
confluence camel: wiki_article@space, space@site, whiteboard@space, blog_entry@space, watcher@wiki_article
stripe snake: payment_intent@account, invoice@customer, subscription@customer, refund@charge, payout@account
shopify snake: product@store, order@store, discount_code@store, inventory_level@location, gift_card@store
salesforce camel: lead@organization, opportunity@account, account_record@organization, campaign@organization, quote_line@opportunity
hubspot snake: deal@pipeline, marketing_form@portal, newsletter@list, company@portal, support_case@portal
zendesk kebab: support_ticket@brand, macro@account, satisfaction_rating@support_ticket, help_article@help_center, agent_group@account
aws camel: bucket_object@bucket, lambda_function@region, ec_2_instance@region, queue_message@queue, iam_policy@account
gcloud snake: virtual_machine@zone, storage_blob@bucket, cloud_function@region, service_account@project, log_entry@project
azure camel: resource_group@subscription, key_vault_secret@key_vault, web_app@resource_group, container_registry@resource_group, cost_report@subscription
kubernetes snake: pod@namespace, deployment@namespace, config_map@namespace, ingress@namespace, cron_job@namespace
docker kebab: container@host, image@registry, volume@host, network@host, compose_stack@host
postgres snake: table@schema, index@table, stored_procedure@schema, materialized_view@schema, database_role@cluster
mongodb camel: collection@database, json_document@collection, aggregation@collection, change_stream@collection, shard@cluster
redis snake: cache_key@keyspace, sorted_set@keyspace, stream_entry@stream, pub_sub_topic@server, geo_point@keyspace
elasticsearch snake: search_index@cluster, mapping@search_index, snapshot@repository, ingest_processor@cluster, alias@search_index
filesystem snake: file@folder, folder@root, symbolic_link@folder, archive@folder, file_permission@file
browser kebab: tab@window, screenshot@tab, cookie@site, bookmark@profile, form_field@page
spotify camel: playlist@account, song@playlist, podcast_episode@show, artist@catalog, queue_item@player
youtube snake: video@channel, caption@video, playlist_item@playlist, live_broadcast@channel, channel_banner@channel
maps camel: route@map, place@map, travel_time@route, elevation@point, street_address@region
weather snake: forecast@city, storm_alert@region, air_quality@city, rainfall_record@station, pollen_count@city
flights kebab: flight@route, boarding_pass@booking, seat@flight, airport@country, baggage_claim@booking
hotels camel: hotel_room@hotel, reservation@hotel, guest_review@hotel, room_rate@hotel, loyalty_card@guest
banking snake: bank_transfer@account, statement@account, standing_order@account, credit_card@customer, exchange_rate@market
stocks camel: share_price@market, portfolio@investor, dividend@share, watchlist@investor, earnings_call@company
figma kebab: design_frame@file, component@library, color_style@library, prototype@file, design_review@file
sentry snake: error_event@project, alert_rule@project, release_health@project, source_map@release, stack_trace@error_event
datadog camel: dashboard@organization, monitor@organization, metric@host, incident@service, synthetic_test@service
fitness snake: workout@athlete, heart_rate@athlete, meal@diary, sleep_session@athlete, step_goal@athlete
smarthome camel: light@room, thermostat@room, door_lock@house, security_camera@house, sprinkler_zone@garden
translation kebab: translated_text@language, glossary@language_pair, language_detection@text, spoken_audio@voice, subtitle@video`;

/** What each act does to a thing: `{thing}`, `{things}`, `{parent}` and `{service}` stand for the words. */
export const ACTS: Readonly<Record<string, { does: string; args: string; answers: string }>> = {
  create: {
    does: "Creates a new {thing} in a {parent} of {service}.",
    args: "parent_id title description labels? dry_run?",
    answers: "Returns the {thing} with its identifier and the address where people can look at it.",
  },
  list: {
    does: "Lists the {things} of a {parent}, newest first.",
    args: "parent_id state? sort? limit? cursor?",
    answers: "Returns one page; pass the cursor of the answer to get the next one.",
  },
  get: {
    does: "Returns one {thing} by its identifier, with all of its fields.",
    args: "id fields? include_history?",
    answers: "Fails if the {thing} does not exist or the account may not see it.",
  },
  update: {
    does: "Changes fields of an existing {thing}.",
    args: "id title? description? labels? if_match?",
    answers: "Fields that are left out stay as they are. Returns the {thing} after the change.",
  },
  delete: {
    does: "Deletes a {thing} for good.",
    args: "id reason? if_match?",
    answers: "This cannot be undone. Returns nothing but the identifier.",
  },
  search: {
    does: "Finds {things} of {service} that match a text.",
    args: "query parent_id? author? since? limit? cursor?",
    answers: "Words are matched in all fields; quotes keep words together.",
  },
  share: {
    does: "Gives other people access to a {thing}.",
    args: "id people role notify?",
    answers: "People who have access already keep the higher role.",
  },
  export: {
    does: "Writes a {thing} to a file in a format of your choice.",
    args: "id format include_history? time_zone?",
    answers: "Returns a link that can be downloaded for one hour.",
  },
};

/** What is said of each argument. */
export const ARGUMENTS: Readonly<Record<string, { type: string; text: string }>> = {
  id: { type: "string", text: "The identifier of the {thing}, as other tools return it." },
  parent_id: { type: "string", text: "The identifier of the {parent} that the {thing} belongs to." },
  title: { type: "string", text: "A short text that people see first; at most 200 characters." },
  description: { type: "string", text: "Everything else to say, as Markdown." },
  labels: { type: "array", text: "Names to group by; those that do not exist yet are made." },
  dry_run: { type: "boolean", text: "Checks everything and changes nothing." },
  state: { type: "string", text: "Only those in this state: open, closed or all." },
  sort: { type: "string", text: "The field to order by, with a minus sign for descending order." },
  limit: { type: "integer", text: "The most to return, from 1 to 100; 20 if left out." },
  cursor: { type: "string", text: "Where the next page begins, from an earlier answer." },
  fields: { type: "array", text: "The fields to return; all of them if left out." },
  include_history: { type: "boolean", text: "Adds who changed what and when." },
  if_match: { type: "string", text: "The version that the change is made for; another one refuses it." },
  reason: { type: "string", text: "Why it happens, for the log of the {parent}." },
  query: { type: "string", text: "The words to look for." },
  author: { type: "string", text: "Only those of this person, by name or address." },
  since: { type: "string", text: "Only those changed after this time, in ISO 8601." },
  people: { type: "array", text: "The addresses of those who get access." },
  role: { type: "string", text: "What they may do: view, comment or edit." },
  notify: { type: "boolean", text: "Tells them by mail." },
  format: { type: "string", text: "The format of the file, such as csv, json or pdf." },
  time_zone: { type: "string", text: "The zone that times are written in." },
};
