/** Readable names of the bare server's steps for writes. Each step includes the previous ones. */
export const stepNames = {
  fastify: 'Fastify, a constant answer',
  statement: 'and the bare statement',
  kept: 'and keys, months, counts, words for search',
  numbered: 'and numbers in the order of commits',
  decided: 'and token, tenant, locks and looks before it',
} as const;
