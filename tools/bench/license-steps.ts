/** What the bare license server does, each step more than the one before it. */
export const steps = ['http', 'fastify', 'statement', 'machines', 'signed', 'counted'] as const;
export type Step = (typeof steps)[number];

/** What each step is, for people. */
export const stepNames: Readonly<Record<Step, string>> = {
  http: 'node:http, a constant answer',
  fastify: 'Fastify, a constant answer',
  statement: 'and the bare statement',
  machines: 'and machines in rows of their own',
  signed: 'and Ed25519 signatures',
  counted: 'and a count in Redis',
};
