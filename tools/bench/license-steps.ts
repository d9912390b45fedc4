/** What the bare license server does, for people: each step more than the one before it. */
export const stepNames = {
  http: 'node:http, a constant answer',
  fastify: 'Fastify, a constant answer',
  statement: 'and the bare statement',
  machines: 'and machines in rows of their own',
  signed: 'and Ed25519 signatures',
  counted: 'and a count in Redis',
} as const;
