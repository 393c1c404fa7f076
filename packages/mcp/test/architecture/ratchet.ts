/**
 * How much of each kind the sources hold today. A number only goes down: whoever adds one is refused, whoever removes one
 * lowers it.
 */
export const AT_MOST = {
  filesInCycles: 0,
  eraLines: 2,
  crowdedRooms: 0,
  smallFiles: 2,
  twoMeanings: 6,
  fileNames: 20,
  builtins: 0,
  bannedNames: 40,
} as const;
