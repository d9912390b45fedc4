/**
 * Calls API operations with a person's session. This service cannot read rows of an organization, so it acts
 * as the person, and the API's authorization checks apply.
 */
import { traceHeaders, serviceUnavailable } from '@muster/http';
import { type ErrorBody } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { organizationsRegistry } from '@muster/organizations-registry';
import { type FastifyRequest } from 'fastify';
import { Pool } from 'undici';
import { type z } from 'zod';

/** An error: the API refused the person's request. The message can be shown to them. */
export class ApiRefusedError extends Error {
  override readonly name = 'Refused';
  /**
   * The path of the page on which the person can provide the proof that their organization requires. Null if
   * the API refused for another reason.
   */
  readonly proofPath: string | null;
  constructor({ message, details }: ErrorBody) {
    super(message);
    this.proofPath = typeof details?.['at'] === 'string' ? details['at'] : null;
  }
}

export interface OwnAgent {
  readonly id: string;
  readonly name: string;
}

export interface OwnProject {
  readonly id: string;
  readonly key: string;
  readonly name: string;
}

export interface PersonApi {
  /** Lists the person's agents in the organization, newest first. */
  listAgents(request: FastifyRequest, orgId: string, memberId: string): Promise<readonly OwnAgent[]>;
  /** Lists the projects that the person sees in the organization, up to one page. */
  listProjects(request: FastifyRequest, orgId: string): Promise<readonly OwnProject[]>;
  /**
   * Creates an agent of the person. Throws Refused if the name is taken or the role may not create agents.
   */
  createAgent(request: FastifyRequest, orgId: string, name: string): Promise<OwnAgent>;
  close(): Promise<void>;
}

const poolConnections = 8;
const responseTimeoutMillis = 20_000;
const listLimit = 200;

interface PersonApiOptions {
  readonly url: string;
  readonly origin: string;
}

/** Creates the client. `origin` is Muster's public origin; the API accepts a session only with it. */
export function createPersonApi({ url, origin }: PersonApiOptions): PersonApi {
  const pool = new Pool(new URL(url).origin, {
    connections: poolConnections,
    headersTimeout: responseTimeoutMillis,
    bodyTimeout: responseTimeoutMillis,
  });

  async function call<Result extends z.ZodType>(
    { headers: { cookie = '' }, ip, id }: FastifyRequest,
    orgId: string,
    { path, result }: { readonly path: string; readonly result: Result },
    params: object,
  ): Promise<z.output<Result>> {
    try {
      const answer = await pool.request({
        ...{ path, method: 'POST', body: JSON.stringify(params) },
        headers: {
          ...{ cookie, origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
          ...{ 'x-muster-org': orgId, 'x-request-id': id, 'x-forwarded-for': ip },
          ...traceHeaders(),
        },
      });
      const body: unknown = await answer.body.json();
      if (answer.statusCode === 200) return result.parse(body);
      if (answer.statusCode < 500) throw new ApiRefusedError(body as ErrorBody);
      throw serviceUnavailable('api_away');
    } catch (error) {
      if (error instanceof ApiRefusedError) throw error;
      throw serviceUnavailable('api_away');
    }
  }

  return {
    listAgents: async (request, orgId, memberId) => {
      const { result } = organizationsRegistry.agents.list;
      return (
        await call(request, orgId, { path: '/api/agents/list', result }, { memberId, limit: listLimit })
      ).items;
    },
    listProjects: async (request, orgId) => {
      const { result } = boardRegistry.projects.list;
      return (await call(request, orgId, { path: '/api/projects/list', result }, { limit: listLimit })).items;
    },
    createAgent: async (request, orgId, name) => {
      const { result } = organizationsRegistry.agents.create;
      return (await call(request, orgId, { path: '/api/agents/create', result }, { name })).agent;
    },
    close: () => pool.close(),
  };
}
