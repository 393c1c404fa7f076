/**
 * How much of each kind the sources hold today. A number only goes down: whoever adds one is refused, whoever removes one
 * lowers it.
 */
export const AT_MOST = {
  filesInCycles: 0,
  eraLines: 0,
  crowdedRooms: 0,
  smallFiles: 0,
  twoMeanings: 0,
  fileNames: 0,
  builtins: 0,
  bannedNames: 0,
} as const;
