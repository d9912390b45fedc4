import { type FastifyRequest } from 'fastify';

/** As much as is kept of what a program calls itself; null where it does not say. */
export const userAgentOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | null =>
  headers['user-agent']?.slice(0, 512) ?? null;
