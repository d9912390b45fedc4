/**
 * Verifies HTTP Message Signatures (RFC 9421) as the license service uses them: an answer must come from the
 * service and belong to this call.
 */
import { createHash, verify } from 'node:crypto';
import { type KeyRing } from './key-ring.ts';

export interface SentRequest {
  readonly method: string;
  /** The path and the query of the request, as they were sent. */
  readonly target: string;
  /** The Content-Digest of the body. Undefined if there is no body. */
  readonly digest: string | undefined;
  readonly nonce: string;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

const signatureLabel = 'license';

/** Returns the value of a header as one text. Node joins repeated headers. */
export const headerOf = ({ headers }: ServiceResponse, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.join(', ');
};

/**
 * Returns the raw member of a dictionary (RFC 8941) by its name. Commas within texts and brackets do not
 * separate members.
 */
function dictionaryMember(dictionary: string, name: string): string | undefined {
  const members = dictionary.match(/(?:"(?:[^"\\]|\\.)*"|\([^)]*\)|[^,"(])+/g) ?? [];
  const start = `${name}=`;
  return members
    .map((member) => member.trim())
    .find((member) => member.startsWith(start))
    ?.slice(start.length);
}

const parseByteSequence = (member: string | undefined): Buffer | undefined => {
  const base64 = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(member ?? '')?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
};

/** Returns a body's digest in the format of the header Content-Digest (RFC 9530). */
export const contentDigestOf = (body: string): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

function isBodyDigestValid(answer: ServiceResponse): boolean {
  const digest = parseByteSequence(dictionaryMember(headerOf(answer, 'content-digest') ?? '', 'sha-256'));
  return digest !== undefined && createHash('sha256').update(answer.body).digest().equals(digest);
}

/** Returns the components that a signature must cover, with their values for this answer and this call. */
function requiredComponentsOf(
  answer: ServiceResponse,
  { method, target, digest, nonce }: SentRequest,
): Map<string, string> {
  const query = target.indexOf('?');
  return new Map([
    ['"@status"', String(answer.status)],
    ['"content-digest"', headerOf(answer, 'content-digest') ?? ''],
    ['"@method";req', method],
    ['"@path";req', query === -1 ? target : target.slice(0, query)],
    ['"@query";req', query === -1 ? '?' : target.slice(query)],
    ...(digest === undefined ? [] : ([['"content-digest";req', digest]] as const)),
    ['"license-nonce";req', nonce],
  ]);
}

/** Returns the id of the key with which the answer claims to be signed. */
export function keyIdOf(answer: ServiceResponse): string | undefined {
  const input = dictionaryMember(headerOf(answer, 'signature-input') ?? '', signatureLabel) ?? '';
  return /;keyid="([^"\\]+)"/.exec(input)?.[1];
}

/**
 * Returns the time of this answer by the service's clock, in seconds since 1970. Returns undefined if the
 * service did not sign it for this call.
 * The nonce is new for each call, so this is the current time.
 */
export function verifiedSignatureSeconds(
  answer: ServiceResponse,
  sentRequest: SentRequest,
  keyRing: KeyRing,
): number | undefined {
  const input = dictionaryMember(headerOf(answer, 'signature-input') ?? '', signatureLabel);
  const signature = parseByteSequence(dictionaryMember(headerOf(answer, 'signature') ?? '', signatureLabel));
  const [, list, parameters] = /^\(([^)]*)\)(;.+)$/.exec(input ?? '') ?? [];
  const key = keyRing(keyIdOf(answer) ?? '');
  const created = Number(/;created=(\d{1,12})(?:;|$)/.exec(parameters ?? '')?.[1]);
  if (list === undefined || signature === undefined || key === undefined || !(created > 0)) return undefined;
  if (!isBodyDigestValid(answer)) return undefined;
  const components = requiredComponentsOf(answer, sentRequest);
  const covered = list.split(' ');
  // The signature must cover all components and no unknown ones.
  if (covered.length !== components.size || new Set(covered).size !== components.size) return undefined;
  const lines: string[] = [];
  for (const name of covered) {
    const value = components.get(name);
    if (value === undefined) return undefined;
    lines.push(`${name}: ${value}`);
  }
  const base = [...lines, `"@signature-params": ${input ?? ''}`].join('\n');
  return verify(null, Buffer.from(base, 'latin1'), key, signature) ? created : undefined;
}
