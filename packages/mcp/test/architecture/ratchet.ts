/**
 * How much of each kind the sources hold today. A number only goes down: whoever adds one is refused, whoever removes one
 * lowers it.
 */
export const AT_MOST = {
  filesInCycles: 58,
  eraLines: 33,
  crowdedRooms: 0,
  smallFiles: 8,
  twoMeanings: 26,
  fileNames: 31,
  builtins: 0,
  bannedNames: 71,
} as const;
