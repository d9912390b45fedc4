/**
 * The operators' commands. Each of them was once a top-level command, and still works as a top-level command.
 */
export const operators = {
  org: 'Organizations',
  member: 'Members of an organization',
  token: 'Tokens of members and of their agents',
  platform: 'Operators of the installation',
  outbox: 'Jobs that the worker gave up',
  'after-loss': 'Go on after a standby took over that had not heard of all',
  nodes: 'The servers that organizations are at',
  place: 'Say whether new organizations come to be at a server',
  move: 'Move an organization to another server while its people work',
  migrate: 'Bring the databases to the newest schema',
} as const;

export type OperatorsWord = keyof typeof operators;
