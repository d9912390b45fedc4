/** Readable names of the bare license server's steps. Each step includes the previous ones. */
export const stepNames = {
  http: 'node:http, a constant answer',
  fastify: 'Fastify, a constant answer',
  statement: 'and the bare statement',
  machines: 'and machines in rows of their own',
  signed: 'and Ed25519 signatures',
  counted: 'and a count in Redis',
} as const;
