/** English texts about locks, loaded with the pages that show them. */

export const l = {
  title: (project: string) => `Locks in ${project}`,
  loading: 'Loading the locks',
  none: 'No locks.',
  of: (name: string, left: string) => `${name}, ${left} left`,
  shared: 'shared',
  story: 'Story',
  theirStory: 'Their story',
  free: 'Release',
  notFreed: 'The lock could not be released',
  path: 'Path, glob or name',
  pathHint: 'src/auth/** or name:db-migrations',
  ask: 'Check',
  notAsked: 'The lock could not be checked',
  noPath: 'Enter a repository path, a glob, or name: and a name.',
  isFree: (path: string) => `${path} is available`,
  isHeld: (path: string) => `${path} is locked`,
  witness: (name: string) => `${name} holds`,
  by: 'through',
  collides: 'Others are working on these files',
  collision: { execution: 'is changing it', lock: 'has it locked' },
};
