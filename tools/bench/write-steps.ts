/** What the bare server of writes does, each step more than the one before it. */
export const steps = ['fastify', 'statement', 'kept', 'numbered', 'decided'] as const;
export type Step = (typeof steps)[number];

/** What each step is, for people. */
export const stepNames: Readonly<Record<Step, string>> = {
  fastify: 'Fastify, a constant answer',
  statement: 'and the bare statement',
  kept: 'and keys, months, counts, words for search',
  numbered: 'and numbers in the order of commits',
  decided: 'and token, tenant, locks and looks before it',
};
