/** The operators' commands; each was once a command of its own, and is still found there. */
export const operators = {
  org: 'Organizations',
  member: 'Members of an organization',
  token: 'Tokens of members and of their agents',
  platform: 'Operators of the installation',
  outbox: 'Jobs that the worker gave up',
  'after-loss': 'Go on after a standby took over that had not heard of all',
  migrate: 'Bring the database to the newest schema',
} as const;

export type OperatorsWord = keyof typeof operators;
