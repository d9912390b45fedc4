/** Errors of SCIM (RFC 7644, section 3.12). */
import { type ErrorReason } from '@muster/contract';
import { type ApiError, type RenderErrorPage } from '@muster/http';

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

export const renderScimError: RenderErrorPage = (_request, error) => {
  const scimType = typeOf(error);
  // SCIM does not define 422, so a violated rule is answered with 403.
  const status = error.code === 'unprocessable' ? 403 : error.status;
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail: detailOf(error),
  };
  return { headers: scimHeaders, body: JSON.stringify(body), status };
};
