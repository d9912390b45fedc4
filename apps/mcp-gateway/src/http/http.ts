/** `POST /api/mcp`: checks the HTTP request before the protocol handles its message. */
import { ApiError, bulkBodyLimit } from '@muster/registry';
import {
  classifyInboundRequest,
  type InboundModernRoute,
  type JSONRPCRequest,
  ProtocolErrorCode,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { answer } from './answering.ts';
import { Door, type DoorOptions, headerOf } from './door.ts';
import { createViews, pathForms, type View } from './narrowing.ts';
import { allowOrigins, originGuard, type OriginRules } from './origins.ts';
import { withoutNulls } from '../calls/repair.ts';
import { idOf, refuse } from './replies.ts';
import { legacyVersions, modernVersions } from '../protocol/server.ts';
import { headerFault, headerMismatch } from './standard-headers.ts';
import { subscribe } from '../protocol/subscribing.ts';

export interface McpRouteOptions extends DoorOptions {
  readonly rules: OriginRules;
}

export const mcpPath = '/api/mcp';
const otherMethods = ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'] as const;

/** Answers errors that have a JSON-RPC code. The service's own error handler answers all others. */
function errorHandler(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error;
  const isNoJson = error.details.reason === 'invalid_json';
  const code = isNoJson ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
  const issues = (error.details.issues ?? []).map(({ path: where, message }) => `${where}: ${message}`);
  const message = [error.message, ...issues].join(' ');
  void refuse(reply, 400, { code, message, data: error.toBody(request.id) }, idOf(request.body));
}

const invalid = (
  reply: FastifyReply,
  status: number,
  message: string,
  id: ReturnType<typeof idOf> = null,
): FastifyReply => refuse(reply, status, { code: ProtocolErrorCode.InvalidRequest, message }, id);

function inboundOf(request: FastifyRequest) {
  const { body } = request;
  const [version, mcpMethod, mcpName] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map((name) =>
    headerOf(request, name),
  );
  return classifyInboundRequest({
    httpMethod: 'POST',
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(mcpMethod !== undefined && { mcpMethodHeader: mcpMethod }),
    ...(mcpName !== undefined && { mcpNameHeader: mcpName }),
    ...(body !== undefined && { body }),
  });
}

interface Receiving {
  readonly request: FastifyRequest;
  readonly view: View;
  readonly stopping: AbortSignal;
}

/** Handles a message of the 2026-07-28 revision. */
function receiveModern(
  door: Door,
  reply: FastifyReply,
  { request, view, stopping }: Receiving,
  { classification, ...inbound }: InboundModernRoute,
): FastifyReply | Promise<FastifyReply> {
  const { headers, body } = request;
  const { revision } = classification;
  if (!modernVersions.some((known) => known === revision)) {
    // Name only modern versions. A client negotiates older versions with `initialize`. `server/discover`
    // names the same modern versions.
    const supported = [...modernVersions];
    const error = new UnsupportedProtocolVersionError({ supported, requested: revision ?? 'unknown' });
    return refuse(reply, 400, error, idOf(body));
  }
  if (inbound.messageKind === 'notification') return reply.code(202).send();
  const { message } = inbound;
  const fault = headerFault(message, headers);
  if (fault !== undefined) return refuse(reply, 400, { code: headerMismatch, message: fault }, message.id);
  if (message.method === 'subscriptions/listen')
    return subscribe(door, reply, { request, message, view, stopping });
  return answer(door, reply, { request, message, classification, view });
}

/** Returns true if the header names a protocol version that this server does not support. */
const isUnspoken = (version: string | undefined): version is string =>
  version !== undefined && !legacyVersions.some((known) => known === version);

function receive(
  door: Door,
  reply: FastifyReply,
  receiving: Receiving,
): FastifyReply | Promise<FastifyReply> {
  const { request, view } = receiving;
  const { body } = request;
  if (Array.isArray(body))
    return invalid(reply, 400, 'Batches are not supported: send one message per request.');
  const inbound = inboundOf(request);
  if (inbound.kind === 'reject') return refuse(reply, inbound.httpStatus, inbound, idOf(body));
  if (inbound.kind === 'modern') return receiveModern(door, reply, receiving, inbound);
  // Notifications need no action. The server never sends requests, so there is nothing to respond to.
  if (inbound.reason === 'notification' || inbound.reason === 'response') return reply.code(202).send();
  const version = headerOf(request, 'mcp-protocol-version');
  if (inbound.reason === 'no-claim' && isUnspoken(version)) {
    const spoken = [...modernVersions, ...legacyVersions].join(', ');
    const message = `This server does not support protocol version "${version.slice(0, 40)}"; it supports ${spoken}.`;
    return invalid(reply, 400, message, idOf(body));
  }
  const message = body as JSONRPCRequest;
  return answer(door, reply, { request, message, classification: { era: 'legacy' }, view });
}

export function addMcpRoute(app: FastifyInstance, { rules, ...options }: McpRouteOptions): void {
  const door = new Door(options);
  const guard = originGuard(rules);
  const readView = createViews();
  const stopping = new AbortController();
  app.addHook('preClose', async () => {
    stopping.abort();
  });
  app.decorateRequest('asker', null);
  allowOrigins(app, rules);

  const config = { isForMcp: true };
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    guard(request.headers);
    await door.letIn(request);
  };
  const handlerOf =
    (inPath: string | undefined) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      // Take everything after the first question mark. Further question marks are part of the query.
      const query = /\?(.*)$/s.exec(request.url)?.[1];
      const view = readView([inPath, query].filter(Boolean).join('&'), request.headers);
      request.body = withoutNulls(request.body);
      return receive(door, reply, { request, view, stopping: stopping.signal });
    };
  const ends = ['', ...Object.keys(pathForms)].flatMap((end) => [[end, ''] as const, [end, '/'] as const]);
  for (const [end, slash] of ends) {
    const url = mcpPath + end + slash;
    app.post(url, { onRequest, errorHandler, config, bodyLimit: bulkBodyLimit }, handlerOf(pathForms[end]));
    app.route({
      method: [...otherMethods],
      url,
      config,
      // A client whose POST was rejected tries GET next, and shows the error text of the GET response.
      onRequest: async (request) =>
        request.method === 'OPTIONS' ? guard(request.headers) : onRequest(request),
      handler: (_request, reply) =>
        invalid(reply.header('allow', 'POST'), 405, 'This server has no sessions, so it supports only POST.'),
    });
  }
}
