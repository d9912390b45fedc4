/** English texts about locks, loaded with the pages that show them. */

export const lockTexts = {
  title: (project: string) => `Locks in ${project}`,
  loading: 'Loading the locks',
  none: 'No locks.',
  of: (name: string, left: string) => `${name}, ${left} left`,
  shared: 'shared',
  story: 'Story',
  theirStory: 'View their story',
  free: 'Release',
  notFreed: 'The lock could not be released',
  path: 'Path, glob or name',
  pathHint: 'src/auth/** or name:db-migrations',
  ask: 'Check lock',
  notAsked: 'The lock could not be checked',
  noPath: 'Enter a path, a glob, or a name such as name:db-migrations.',
  isFree: (path: string) => `${path} is not locked`,
  isHeld: (path: string) => `${path} is locked`,
  witness: (name: string) => `${name} has locked`,
  by: 'with',
  collides: 'Others are working on these files',
  collision: { execution: 'is changing it', lock: 'has it locked' },
};
