/**
 * SCIM 2.0 (RFC 7644), by which identity providers manage members and teams. The routes translate requests to the
 * operations of SCIM, which run in the pipeline of every call.
 */
import { type Pool } from '@muster/driver';
import { scimHandlers } from '@muster/organizations';
import {
  badRequest,
  defaultBodyLimitBytes,
  isUuid,
  largeBodyLimitBytes,
  malformedRequest,
  maxScimPageSize,
  notFound,
  notFoundWithReason,
  type ResultOf,
  scimOperations,
  scopeCovers,
  scopeTooSmall,
} from '@muster/registry';
import { execute, type Handler, type HandlerEnvironment } from '@muster/runtime';
import { addScimJsonParser, createCallRecorder, type Metrics, userAgentOf } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Authenticate } from '../authenticate.ts';
import { type CallLimits } from '../limits.ts';
import { type EnterQueues } from '../lines.ts';
import { sendErrorAfterTokenCheck } from '../operationRoutes.ts';
import { createScimErrorHandler, scimHeaders } from './errors.ts';
import {
  isSelected,
  readSelection,
  renderGroup,
  renderUser,
  scimPath,
  type ScimResource,
  selectAttributes,
} from './resources.ts';
import { providerConfigOf, resourceTypesOf, schemasOf } from './schemas.ts';

export interface ScimRouteOptions {
  readonly pool: Pool;
  readonly authenticateToken: Authenticate;
  readonly limits: CallLimits;
  readonly environment: HandlerEnvironment;
  readonly enterQueuesOf: (handler: Handler) => EnterQueues;
  readonly baseUrl: string;
  readonly docsUrl: string | null;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

type ScimRequest = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, unknown> }>;

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function bodyOf({ body }: FastifyRequest): Record<string, unknown> {
  if (!isObject(body)) throw malformedRequest('invalid_json', 'The body must be a JSON object.');
  return body;
}

/** Returns the operations of a PATCH, whose name is compared without regard to case. */
const patchOperationsOf = (request: FastifyRequest): unknown =>
  Object.entries(bodyOf(request)).find(([name]) => name.toLowerCase() === 'operations')?.[1] ?? [];

/** Returns the id in the path. No resource has an id of another form. */
function idOf({ params: { id } }: ScimRequest): string {
  if (!isUuid(id.toLowerCase())) throw notFoundWithReason('no_such_path', 'No resource has this id.');
  return id.toLowerCase();
}

function readInteger(query: Readonly<Record<string, unknown>>, param: string, usual: number): number {
  const { [param]: text } = query;
  if (text === undefined || text === '') return usual;
  if (typeof text === 'string' && /^-?\d{1,9}$/.test(text)) return Number(text);
  throw badRequest(`${param} is invalid.`, [{ path: param, message: 'must be an integer' }]);
}

const defaultPageSize = 100;

/** Reads the filter and the range of a list. Ranges beyond the limits are shortened, as RFC 7644 demands. */
function readPage({ query }: ScimRequest) {
  const { filter } = query;
  if (filter !== undefined && typeof filter !== 'string')
    throw badRequest('The filter is invalid.', [{ path: 'filter', message: 'must be given once' }]);
  return {
    ...(filter !== undefined && filter !== '' && { filter }),
    startIndex: Math.max(readInteger(query, 'startIndex', 1), 1),
    count: Math.min(Math.max(readInteger(query, 'count', defaultPageSize), 0), maxScimPageSize),
  };
}

const send = (reply: FastifyReply, body: object, status = 200): FastifyReply =>
  reply.code(status).headers(scimHeaders).send(JSON.stringify(body));

const sendList = (reply: FastifyReply, total: number, startIndex: number, resources: readonly object[]) =>
  send(reply, {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  });

/** Answers a resource with the attributes that were asked for. */
function sendResource(request: ScimRequest, reply: FastifyReply, resource: ScimResource, status = 200) {
  if (status === 201) reply.header('location', (resource['meta'] as { location: string }).location);
  return send(reply, selectAttributes(resource, readSelection(request.query)), status);
}

type Run<O extends Handler> = (request: FastifyRequest, params: unknown) => Promise<ResultOf<O['operation']>>;

/** Creates the function that runs an operation of SCIM for a request. */
function createRun<O extends Handler>(handler: O, options: ScimRouteOptions): Run<O> {
  const { pool, environment, enterQueuesOf, metrics, logger } = options;
  const recordCall = createCallRecorder(handler.operation.name, { metrics, logger });
  const enterQueues = enterQueuesOf(handler);
  return (request, params) => {
    const token = request.caller;
    if (token === null) throw new Error(`${handler.operation.name} was reached without authentication`);
    const { orgId, memberId } = token.identity;
    return recordCall(request, { orgId, memberId }, async () => {
      const leaveQueues = await enterQueues(request, token.identity, params);
      try {
        const call = {
          ...{ token, params, requestId: request.id, idempotencyKey: null, ip: request.ip },
          userAgent: userAgentOf(request),
        };
        const { json } = await execute(pool, handler, call, environment);
        return JSON.parse(json) as ResultOf<O['operation']>;
      } finally {
        leaveQueues();
      }
    });
  };
}

export function addScimRoutes(app: FastifyInstance, options: ScimRouteOptions): void {
  const { authenticateToken, limits } = options;
  void app.register(async (scope) => {
    addScimJsonParser(scope);
    scope.setErrorHandler(createScimErrorHandler(options.logger));
    scope.addHook('onRequest', async (request, reply) => {
      request.caller = await authenticateToken(request);
      const { identity } = request.caller;
      await limits.admit(identity, reply, false);
      if (!scopeCovers(identity.scopes, scimOperations.users.get.scope))
        throw scopeTooSmall({ needed: 'scim', held: identity.scopes });
    });
    addUserRoutes(scope, options);
    addGroupRoutes(scope, options);
    addSchemaRoutes(scope, options);
    scope.all(`${scimPath}/*`, route, () => {
      throw notFoundWithReason('no_such_path', 'SCIM has no such resource, or not with this method.');
    });
  });
}

const route = { errorHandler: sendErrorAfterTokenCheck };

function addUserRoutes(scope: FastifyInstance, options: ScimRouteOptions): void {
  const { users } = scimHandlers;
  const render = renderUser(options.baseUrl);
  const [create, get, list, update, remove] = [
    createRun(users.create, options),
    createRun(users.get, options),
    createRun(users.list, options),
    createRun(users.update, options),
    createRun(users.delete, options),
  ];
  const [path, pathOfOne] = [`${scimPath}/Users`, `${scimPath}/Users/:id`];
  scope.get(path, route, async (request: ScimRequest, reply) => {
    const [page, selection] = [readPage(request), readSelection(request.query)];
    const { total, resources } = await list(request, page);
    const shown = resources.map((user) => selectAttributes(render(user), selection));
    return sendList(reply, total, page.startIndex, shown);
  });
  scope.post(path, { ...route, bodyLimit: defaultBodyLimitBytes }, async (request: ScimRequest, reply) => {
    const { user } = await create(request, { resource: bodyOf(request) });
    return sendResource(request, reply, render(user), 201);
  });
  scope.get(pathOfOne, route, async (request: ScimRequest, reply) => {
    const { user } = await get(request, { memberId: idOf(request) });
    return sendResource(request, reply, render(user));
  });
  scope.put(pathOfOne, route, async (request: ScimRequest, reply) => {
    const { user } = await update(request, { memberId: idOf(request), resource: bodyOf(request) });
    return sendResource(request, reply, render(user));
  });
  scope.patch(pathOfOne, route, async (request: ScimRequest, reply) => {
    const operations = patchOperationsOf(request);
    const { user } = await update(request, { memberId: idOf(request), operations });
    return sendResource(request, reply, render(user));
  });
  scope.delete(pathOfOne, route, async (request: ScimRequest, reply) => {
    await remove(request, { memberId: idOf(request) });
    return reply.code(204).send();
  });
}

function addGroupRoutes(scope: FastifyInstance, options: ScimRouteOptions): void {
  const { groups } = scimHandlers;
  const render = renderGroup(options.baseUrl);
  const [create, get, list, update, remove] = [
    createRun(groups.create, options),
    createRun(groups.get, options),
    createRun(groups.list, options),
    createRun(groups.update, options),
    createRun(groups.delete, options),
  ];
  const [path, pathOfOne] = [`${scimPath}/Groups`, `${scimPath}/Groups/:id`];
  const largeBody = { ...route, bodyLimit: largeBodyLimitBytes };
  scope.get(path, route, async (request: ScimRequest, reply) => {
    const [page, selection] = [readPage(request), readSelection(request.query)];
    const includeMembers = isSelected('members', selection);
    const { total, resources } = await list(request, { ...page, includeMembers });
    const shown = resources.map((group) => selectAttributes(render(group), selection));
    return sendList(reply, total, page.startIndex, shown);
  });
  scope.post(path, largeBody, async (request: ScimRequest, reply) => {
    const { group } = await create(request, { resource: bodyOf(request) });
    return sendResource(request, reply, render(group), 201);
  });
  scope.get(pathOfOne, route, async (request: ScimRequest, reply) => {
    const includeMembers = isSelected('members', readSelection(request.query));
    const { group } = await get(request, { teamId: idOf(request), includeMembers });
    return sendResource(request, reply, render(group));
  });
  scope.put(pathOfOne, largeBody, async (request: ScimRequest, reply) => {
    const { group } = await update(request, { teamId: idOf(request), resource: bodyOf(request) });
    return sendResource(request, reply, render(group));
  });
  // Without a body: the members of a group can be many.
  scope.patch(pathOfOne, largeBody, async (request: ScimRequest, reply) => {
    await update(request, { teamId: idOf(request), operations: patchOperationsOf(request) });
    return reply.code(204).send();
  });
  scope.delete(pathOfOne, route, async (request: ScimRequest, reply) => {
    await remove(request, { teamId: idOf(request) });
    return reply.code(204).send();
  });
}

/** Adds the routes that describe the service provider. Their answers depend on no organization. */
function addSchemaRoutes(scope: FastifyInstance, { baseUrl, docsUrl }: ScimRouteOptions): void {
  // The token may have ended while it was cached.
  const described = {
    preHandler: async ({ caller }: FastifyRequest): Promise<void> => {
      await caller?.verifyStillValid();
    },
  };
  const config = providerConfigOf(baseUrl, docsUrl);
  scope.get(`${scimPath}/ServiceProviderConfig`, described, (_request, reply) => send(reply, config));
  const lists = { ResourceTypes: resourceTypesOf(baseUrl), Schemas: schemasOf(baseUrl) };
  for (const [name, resources] of Object.entries(lists)) {
    scope.get(`${scimPath}/${name}`, described, (_request, reply) =>
      sendList(reply, resources.length, 1, resources),
    );
    scope.get(`${scimPath}/${name}/:id`, described, (request: ScimRequest, reply) => {
      const found = resources.find(({ id }) => id === request.params.id);
      if (found === undefined) throw notFound('No resource has this id.');
      return send(reply, found);
    });
  }
}
