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
  maxScimPageSize,
  notFound,
  notFoundWithReason,
  type ScimGroup,
  scimOperations,
  type ScimUser,
  scopeCovers,
  scopeTooSmall,
} from '@muster/contract';
import { execute, type Handler, type HandlerEnvironment, toApiError } from '@muster/runtime';
import {
  addScimJsonParser,
  createCallRecorder,
  createErrorHandler,
  type Metrics,
  userAgentOf,
} from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Authenticate } from '../authenticate.ts';
import { requireJsonObject } from '../json-object.ts';
import { type CallLimits } from '../limits.ts';
import { type EnterQueues } from '../lines.ts';
import { sendErrorAfterTokenCheck } from '../operationRoutes.ts';
import { renderScimError, scimHeaders } from './errors.ts';
import {
  type AttributeSelection,
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

interface ScimRoute {
  Params: { id: string };
  Querystring: Record<string, unknown>;
}

type ScimRequest = FastifyRequest<ScimRoute>;

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Returns the operations of a PATCH, whose name is compared without regard to case. */
const patchOperationsOf = (request: FastifyRequest): unknown =>
  Object.entries(requireJsonObject(request.body)).find(
    ([name]) => name.toLowerCase() === 'operations',
  )?.[1] ?? [];

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

type RunHandler<Result> = (request: FastifyRequest, params: object) => Promise<Result>;

/** Creates the function that runs an operation of SCIM, which has this result, for a request. */
function createHandlerRunner<Result>(handler: Handler, options: ScimRouteOptions): RunHandler<Result> {
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
        return JSON.parse(json) as Result;
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
    scope.setErrorHandler(createErrorHandler(toApiError, options.logger, renderScimError));
    scope.addHook('onRequest', async (request, reply) => {
      request.caller = await authenticateToken(request);
      const { identity } = request.caller;
      await limits.admit(identity, reply, false);
      if (!scopeCovers(identity.scopes, scimOperations.users.get.scope))
        throw scopeTooSmall({ needed: 'scim', held: identity.scopes });
    });
    addResourceRoutes<{ user: ScimUser }, ScimUser>(scope, options, {
      ...{
        name: 'Users',
        idParam: 'memberId',
        handlers: scimHandlers.users,
        bodyLimit: defaultBodyLimitBytes,
      },
      ...{ patchStatus: 200, readParams: () => ({}) },
      ...{ resourceOf: ({ user }) => user, render: renderUser(options.baseUrl) },
    });
    addResourceRoutes<{ group: ScimGroup }, ScimGroup>(scope, options, {
      ...{ name: 'Groups', idParam: 'teamId', handlers: scimHandlers.groups, bodyLimit: largeBodyLimitBytes },
      // PATCH answers 204, because a group can have thousands of members.
      patchStatus: 204,
      readParams: (selection) => ({ includeMembers: isSelected('members', selection) }),
      ...{ resourceOf: ({ group }) => group, render: renderGroup(options.baseUrl) },
    });
    addSchemaRoutes(scope, options);
    scope.all(`${scimPath}/*`, routeOptions, () => {
      throw notFoundWithReason('no_such_path', 'SCIM has no such resource, or not with this method.');
    });
  });
}

const routeOptions = { errorHandler: sendErrorAfterTokenCheck };

/** The parts of the routes of a resource type that differ by the type. */
interface ResourceRoutes<Result, Resource> {
  readonly name: 'Users' | 'Groups';
  /** The parameter of the operations that names the resource. */
  readonly idParam: 'memberId' | 'teamId';
  readonly handlers: Readonly<Record<'create' | 'get' | 'list' | 'update' | 'delete', Handler>>;
  readonly bodyLimit: number;
  readonly patchStatus: 200 | 204;
  /** Returns further parameters of get and list. */
  readonly readParams: (selection: AttributeSelection) => object;
  readonly resourceOf: (result: Result) => Resource;
  readonly render: (resource: Resource) => ScimResource;
}

function addResourceRoutes<Result, Resource>(
  scope: FastifyInstance,
  options: ScimRouteOptions,
  {
    name,
    idParam,
    handlers,
    bodyLimit,
    patchStatus,
    readParams,
    resourceOf,
    render,
  }: ResourceRoutes<Result, Resource>,
): void {
  const create = createHandlerRunner<Result>(handlers.create, options);
  const get = createHandlerRunner<Result>(handlers.get, options);
  const list = createHandlerRunner<{ total: number; resources: Resource[] }>(handlers.list, options);
  const update = createHandlerRunner<Result>(handlers.update, options);
  const remove = createHandlerRunner(handlers.delete, options);
  const [path, pathOfOne] = [`${scimPath}/${name}`, `${scimPath}/${name}/:id`];
  const withBody = { ...routeOptions, bodyLimit };
  const idOfOne = (request: ScimRequest) => ({ [idParam]: idOf(request) });

  /** Creates the handler that runs an operation and answers its resource with the requested attributes. */
  const answer =
    (
      run: RunHandler<Result>,
      paramsOf: (request: ScimRequest, selection: AttributeSelection) => object,
      status = 200,
    ) =>
    async (request: ScimRequest, reply: FastifyReply): Promise<FastifyReply> => {
      // Invalid attributes are refused before the operation writes anything.
      const selection = readSelection(request.query);
      const result = await run(request, paramsOf(request, selection));
      if (status === 204) return reply.code(status).send();
      const resource = render(resourceOf(result));
      if (status === 201) reply.header('location', (resource['meta'] as { location: string }).location);
      return send(reply, selectAttributes(resource, selection), status);
    };

  scope.get<ScimRoute>(path, routeOptions, async (request, reply) => {
    const [page, selection] = [readPage(request), readSelection(request.query)];
    const { total, resources } = await list(request, { ...page, ...readParams(selection) });
    const shown = resources.map((resource) => selectAttributes(render(resource), selection));
    return sendList(reply, total, page.startIndex, shown);
  });
  scope.post<ScimRoute>(
    path,
    withBody,
    answer(create, ({ body }) => ({ resource: requireJsonObject(body) }), 201),
  );
  scope.get<ScimRoute>(
    pathOfOne,
    routeOptions,
    answer(get, (request, selection) => ({ ...idOfOne(request), ...readParams(selection) })),
  );
  scope.put<ScimRoute>(
    pathOfOne,
    withBody,
    answer(update, (request) => ({ ...idOfOne(request), resource: requireJsonObject(request.body) })),
  );
  scope.patch<ScimRoute>(
    pathOfOne,
    withBody,
    answer(
      update,
      (request) => ({ ...idOfOne(request), operations: patchOperationsOf(request) }),
      patchStatus,
    ),
  );
  scope.delete<ScimRoute>(pathOfOne, routeOptions, async (request, reply) => {
    await remove(request, idOfOne(request));
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
