import { type FastifyRequest } from 'fastify';

/** Returns the User-Agent of a program, up to the stored length; null if it sends none. */
export const userAgentOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | null =>
  headers['user-agent']?.slice(0, 512) ?? null;
