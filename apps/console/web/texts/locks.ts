/** What is said of locks, in English: loaded with the pages that show them. */

export const l = {
  title: (project: string) => `Locks in ${project}`,
  loading: 'Loading the locks',
  none: 'No file is locked.',
  of: (name: string, left: string) => `${name}, ${left} left`,
  shared: 'shared',
  story: 'Story',
  theirStory: 'Their story',
  free: 'Free it',
  notFreed: 'The lock could not be freed',
  path: 'A path, a glob or a name',
  pathHint: 'src/auth/** or name:db-migrations',
  ask: 'Is it free?',
  notAsked: 'This could not be asked',
  noPath: 'It is no path of a repository, no glob and no name.',
  isFree: (path: string) => `${path} is free`,
  isHeld: (path: string) => `${path} is not free`,
  witness: (name: string) => `${name} has`,
  by: 'by',
  collides: 'Others are at these files, too',
  collision: { execution: 'is changing it', lock: 'has it locked' },
};
