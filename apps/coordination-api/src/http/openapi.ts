/** `/openapi.json`: OpenAPI 3.1.0, generated from the registry on the first request. */
import {
  exampleAnswerOf,
  type JsonFields,
  toParamsSchema,
  toComponentSchema,
  describeAccess,
} from '@muster/reference';
import {
  type ErrorCode,
  ErrorBody,
  errorCodes,
  errorStatus,
  interfaceVersion,
  type Operation,
  pathOf,
  productVersion,
  reasons,
} from '@muster/contract';
import { operations } from '@muster/registry';
import { z } from 'zod';
import { type Addresses } from './discovery/addresses.ts';
import { type NamespacePath, namespacePaths } from './namespace-paths.ts';
import { webhookItems, webhookParameters } from './openapi-webhooks.ts';

/** Describes a status by the meanings of all error codes that use it. */
const statusDescriptionOf = (status: number): string =>
  Object.values(errorCodes)
    .filter((code) => code.status === status)
    .map(({ meaning }) => meaning)
    .join('; ');

/** Errors that any operation may return. */
const commonErrorCodes: readonly ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'payload_too_large',
  'unsupported_media_type',
  'unprocessable',
  'rate_limited',
  'internal',
  'unavailable',
];

/** Response headers by name. */
const headers: Readonly<Record<string, JsonFields>> = {
  Allow: { description: 'The method that the path supports', schema: { type: 'string' }, example: 'POST' },
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } },
  RateLimit: {
    description: 'The remaining calls of each limit (r), and the seconds until more are allowed (t)',
    schema: { type: 'string' },
    example: '"token";r=999;t=1',
  },
  'RateLimit-Policy': {
    description: 'The calls that each limit allows (q) within a number of seconds (w)',
    schema: { type: 'string' },
    example: '"token";q=1000;w=10',
  },
};
const headerRefs = (...names: readonly string[]): JsonFields =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const limitHeaders = ['RateLimit', 'RateLimit-Policy'] as const;

const errorResponse = (status: number, refusals: readonly string[]): JsonFields => ({
  description:
    refusals.length > 0
      ? `${statusDescriptionOf(status)}: ${refusals.join(', ')}`
      : statusDescriptionOf(status),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  ...(status === 405 && { headers: headerRefs('Allow') }),
  ...(status === 429 && { headers: headerRefs('Retry-After', ...limitHeaders) }),
  ...(status === 503 && { headers: headerRefs('Retry-After') }),
});

/** Returns the response of the operation's example. */
function responseExampleOf({ name }: Operation): JsonFields {
  const answer = exampleAnswerOf(name);
  return answer === null ? {} : { example: JSON.parse(answer) };
}

function responsesOf(operation: Operation, components: JsonFields): JsonFields {
  const writes = operation.effect === 'write';
  const idempotency = writes ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : [];
  const refusals = [...operation.refusals, ...idempotency];
  const statuses = new Set(
    commonErrorCodes
      .map((code) => errorStatus[code])
      .concat(refusals.map((reason) => errorStatus[reasons[reason].code])),
  );
  return {
    200: {
      description: 'Done',
      headers: headerRefs(...limitHeaders),
      content: {
        'application/json': {
          schema: toComponentSchema(components, operation.result, 'output'),
          ...responseExampleOf(operation),
        },
      },
    },
    ...Object.fromEntries(
      [...statuses]
        .sort((a, b) => a - b)
        .map((status) => [
          status,
          errorResponse(
            status,
            refusals.filter((reason) => errorStatus[reasons[reason].code] === status),
          ),
        ]),
    ),
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the write safe to repeat: for 24 hours, the same key and body return the first result again',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const musterPosition = {
  name: 'Muster-Position',
  in: 'header',
  required: false,
  description:
    'The position from an earlier response. It lets a standby answer the read, if the installation has one that is up to date with it',
  schema: { type: 'string', pattern: '^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$' },
};

function pathItem(operation: Operation, components: JsonFields): JsonFields {
  return {
    post: {
      operationId: operation.name.replaceAll('.', '_'),
      tags: [operation.namespace],
      summary: operation.summary,
      description: `${operation.description}\n\nWho may call it: ${describeAccess(operation)}. Token scope: ${operation.scope}.`,
      parameters: [operation.effect === 'write' ? idempotencyKey : musterPosition],
      requestBody: {
        required: !operation.params.safeParse({}).success,
        content: {
          'application/json': {
            schema: toParamsSchema(components, operation),
            example: operation.example,
          },
        },
      },
      responses: responsesOf(operation, components),
      'x-muster-effect': operation.effect,
      'x-muster-idempotent': operation.idempotent,
      'x-muster-destructive': operation.destructive,
      'x-muster-scope': operation.scope,
    },
  };
}

/** Responses of a path that serves several operations. */
const genericResponses: JsonFields = {
  200: {
    description: 'The result of the operation',
    content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
  },
  ...Object.fromEntries(
    [...new Set(Object.values(errorStatus))]
      .sort((a, b) => a - b)
      .map((status) => [status, errorResponse(status, [])]),
  ),
};

/** Describes `/api/query`, which serves every operation. */
const dispatcherItem = (names: readonly string[]): JsonFields => ({
  post: {
    operationId: 'query',
    tags: ['query'],
    summary: 'Call any operation by its name',
    description: 'The same operations as under their own paths.',
    parameters: [idempotencyKey],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              operation: { type: 'string', enum: names },
              params: { type: 'object', additionalProperties: true },
            },
            required: ['operation'],
            additionalProperties: false,
          },
          example: { operation: 'session.identity', params: {} },
        },
      },
    },
    responses: genericResponses,
  },
});

/** Describes the single path of a namespace, which serves its operations by the last word of their names. */
const namespaceItem = ({ namespace, words }: NamespacePath): JsonFields => ({
  post: {
    operationId: namespace.replaceAll('.', '_'),
    tags: [namespace],
    summary: `Call an operation of ${namespace}`,
    description:
      'The same operations as under their own paths; the body names the operation and has its parameters as further fields.',
    parameters: [idempotencyKey],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { operation: { type: 'string', enum: [...words.keys()] } },
            required: ['operation'],
            additionalProperties: true,
          },
          example: { operation: [...words.keys()][0] },
        },
      },
    },
    responses: genericResponses,
  },
});

export function buildOpenApi({ baseUrl, docsUrl }: Pick<Addresses, 'baseUrl' | 'docsUrl'>): JsonFields {
  const components: JsonFields = {};
  toComponentSchema(components, z.object({ error: ErrorBody }), 'output');
  const paths: JsonFields = { '/api/query': dispatcherItem([...operations.keys()]) };
  for (const operation of operations.values())
    paths[pathOf(operation.name)] = pathItem(operation, components);
  for (const namespace of namespacePaths(operations)) paths[namespace.paths[0]] = namespaceItem(namespace);
  const webhooks = webhookItems(components);
  const guides = docsUrl ?? `${baseUrl}/reference`;
  const namespaces = [...new Set([...operations.values()].map((operation) => operation.namespace))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Muster',
      version: interfaceVersion,
      'x-product-version': productVersion,
      description: 'Coordinates people and coding agents around a codebase.',
      contact: { name: 'Muster', url: guides },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { description: docsUrl === null ? 'Reference' : 'Guides', url: guides },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }],
    tags: ['query', ...namespaces].map((name) => ({ name })),
    paths,
    webhooks,
    'x-muster-reasons': reasons,
    components: {
      schemas: components,
      headers,
      parameters: webhookParameters,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token of a member or of an agent' },
      },
    },
  };
}
