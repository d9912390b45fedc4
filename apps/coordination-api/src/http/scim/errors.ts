/** Errors of SCIM (RFC 7644, section 3.12). */
import { type ErrorReason } from '@muster/registry';
import { toApiError } from '@muster/runtime';
import { type ApiError, fromFrameworkError, type RenderedPage, sendError } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

export const scimHeaders = {
  'content-type': 'application/scim+json; charset=utf-8',
  'cache-control': 'no-store',
};

type ScimErrorType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

const typesByReason: Readonly<Partial<Record<ErrorReason, ScimErrorType>>> = {
  already_exists: 'uniqueness',
  invalid_json: 'invalidSyntax',
};
/** The types of invalid requests by the part of the request that is invalid; all others are `invalidValue`. */
const typesByIssuePath: Readonly<Record<string, ScimErrorType>> = {
  filter: 'invalidFilter',
  path: 'invalidPath',
  noTarget: 'noTarget',
  tooMany: 'tooMany',
};

function typeOf({ code, details: { reason, issues = [] } }: ApiError): ScimErrorType | undefined {
  if (reason !== 'invalid_params') return typesByReason[reason];
  return code === 'bad_request' ? (typesByIssuePath[issues[0]?.path ?? ''] ?? 'invalidValue') : undefined;
}

/** Describes the problem, with the fields that are invalid. */
const detailOf = ({ message, details: { issues = [] } }: ApiError): string =>
  [message, ...issues.map((issue) => `${issue.path}: ${issue.message}.`)].join(' ');

/** SCIM knows no 422: a rule that does not allow the request is answered with 403. */
const statusOf = ({ code, status }: ApiError): number => (code === 'unprocessable' ? 403 : status);

function renderScimError(error: ApiError): RenderedPage {
  const scimType = typeOf(error);
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(statusOf(error)),
    ...(scimType !== undefined && { scimType }),
    detail: detailOf(error),
  };
  return { headers: scimHeaders, body: JSON.stringify(body) };
}

export const createScimErrorHandler =
  (logger: Logger) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const known = fromFrameworkError(error) ?? toApiError(error);
    if (known.code === 'internal')
      logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
    const page = renderScimError(known);
    if (known.code === 'unprocessable') {
      request.error = known;
      void reply.code(statusOf(known)).headers(page.headers).send(page.body);
    } else void sendError(reply, known, request.id, page);
  };
