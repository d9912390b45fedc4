/**
 * Signs answers by RFC 9421, HTTP Message Signatures. Clients detect an answer that was forged, changed or
 * meant for another request. The signature covers the digest of the request body and the header
 * License-Nonce. So an old answer cannot be replayed.
 */
import { hash, type KeyObject, sign } from 'node:crypto';
import { component, createSignatureSync } from 'http-message-sig';

const requestComponent = (name: string) => component(name, { req: true });
const alwaysSignedComponents = [
  '@status',
  'content-digest',
  requestComponent('@method'),
  requestComponent('@path'),
  requestComponent('@query'),
];

/** True for each optional part that a request has. */
interface OptionalParts {
  readonly body: boolean;
  readonly nonce: boolean;
}

const componentsOf = (optionalParts: OptionalParts) => [
  ...alwaysSignedComponents,
  ...(optionalParts.body ? [requestComponent('content-digest')] : []),
  ...(optionalParts.nonce ? [requestComponent('license-nonce')] : []),
];

/** A request as received. Its target is a path with query, or an absolute URL. */
export interface SignedRequest {
  readonly method: string;
  readonly target: string;
  /** The digest of the body as computed by the service, independent of the request headers. */
  readonly digest: string | undefined;
  /** The value of the header License-Nonce. */
  readonly nonce: string | undefined;
}

/** Formats the digest of a body for the header Content-Digest (RFC 9530). */
export const digestOf = (content: string | Buffer): string =>
  `sha-256=:${hash('sha256', content, 'base64')}:`;

/** Returns true if a text is a valid nonce: 1 to 256 printable ASCII characters. */
export const isNonce = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

/** The scheme and authority of a target in absolute form, which proxies receive (RFC 9112, 3.2.2). */
const targetAuthorityPattern = /^https?:\/\/[^/?#]*/i;

/** Returns the path and query of a target; `/` for targets without a path, such as `*` or an authority. */
function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target;
  if (!targetAuthorityPattern.test(target)) return '/';
  const rest = target.replace(targetAuthorityPattern, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Percent-encodes bytes of a target that are not valid in URLs, like client libraries do. */
const asciiTarget = (target: string): string =>
  pathAndQuery(target).replace(
    /[^\x21-\x7e]|#/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

/** An arbitrary host. It is not signed, because the service may have several host names. */
const placeholderOrigin = 'http://license-service';

/** The label of our signature, to tell it from signatures that proxies may add. */
const signatureLabel = 'license';

const placeholderStatus = 599;

/**
 * The placeholders for the variable parts of a text to sign. None of them can occur elsewhere in the text,
 * not even in a key ID.
 */
const placeholders = {
  status: `"@status": ${placeholderStatus}`,
  digest: 'DIGEST-HERE',
  bodyDigest: 'ASKED-BODY-HERE',
  method: 'METHODHERE',
  path: '/PATH-HERE',
  query: '?QUERY-HERE',
  nonce: 'NONCE-HERE',
  created: '1111111111',
} as const;
type PlaceholderName = keyof typeof placeholders;
type PlaceholderValues = Readonly<Record<PlaceholderName, string>>;

/** Splits a text at its placeholders and returns a function that fills them in. */
function compileTemplate(text: string): (values: PlaceholderValues) => string {
  const pattern = new RegExp(
    `(${Object.values(placeholders)
      .map((place) => place.replace('?', '\\?'))
      .join('|')})`,
  );
  const nameOf = new Map(
    Object.entries(placeholders).map(([name, place]) => [place as string, name as PlaceholderName]),
  );
  // Elements with even indexes are the fixed texts. Elements with odd indexes are the placeholders between
  // them.
  const pieces = text.split(pattern);
  const [first = '', ...fixed] = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.flatMap((piece) => nameOf.get(piece) ?? []);
  const parts = names.map((name, index) => ({ name, after: fixed[index] ?? '' }));
  return (values) => {
    let whole = first;
    for (const { name, after } of parts) whole += values[name] + after;
    return whole;
  };
}

interface SignatureTemplate {
  /** Fills in the signature base, the text to sign. */
  readonly fillBase: (values: PlaceholderValues) => string;
  readonly fillInput: (values: PlaceholderValues) => string;
}

/**
 * Lets the library build the texts of an answer with placeholders. They are the same for all answers by one key. Building
 * them takes twice as long as signing, so each form is built once.
 */
function createSignatureTemplate(kid: string, optionalParts: OptionalParts): SignatureTemplate {
  let base = '';
  const { signatureInput } = createSignatureSync(
    {
      kind: 'response',
      status: placeholderStatus,
      fields: [{ name: 'content-digest', value: placeholders.digest }],
      request: {
        kind: 'request',
        method: placeholders.method,
        targetUri: placeholderOrigin + placeholders.path + placeholders.query,
        fields: [
          { name: 'content-digest', value: placeholders.bodyDigest },
          { name: 'license-nonce', value: placeholders.nonce },
        ],
      },
    },
    {
      label: signatureLabel,
      components: componentsOf(optionalParts),
      parameters: { created: Number(placeholders.created), keyid: kid, alg: 'ed25519' },
      signer: {
        algorithm: 'ed25519',
        sign: (bytes) => {
          base = Buffer.from(bytes).toString('latin1');
          return bytes;
        },
      },
    },
  );
  return { fillBase: compileTemplate(base), fillInput: compileTemplate(signatureInput) };
}

export type SignAnswer = (
  asked: SignedRequest,
  answer: { readonly status: number; readonly content: string | Buffer },
) => Record<'content-digest' | 'signature' | 'signature-input', string>;

interface AnswerSigningKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/** Creates a function that signs answers with one key. */
export function createAnswerSigner({ kid, key }: AnswerSigningKey): SignAnswer {
  const pair = (body: boolean) => ({
    plain: createSignatureTemplate(kid, { body, nonce: false }),
    nonced: createSignatureTemplate(kid, { body, nonce: true }),
  });
  const [withoutBody, withBody] = [pair(false), pair(true)];
  return ({ method, target, digest: bodyDigest, nonce }, { status, content }) => {
    const digest = digestOf(content);
    const url = asciiTarget(target);
    const query = url.indexOf('?');
    const values = {
      ...{ status: `"@status": ${status}`, digest, method, bodyDigest: bodyDigest ?? '', nonce: nonce ?? '' },
      path: query === -1 ? url : url.slice(0, query),
      // A missing query is signed like an empty one (RFC 9421, 2.2.7).
      query: query === -1 ? '?' : url.slice(query),
      created: String(Math.floor(Date.now() / 1_000)),
    };
    const forms = bodyDigest === undefined ? withoutBody : withBody;
    const { fillBase, fillInput } = nonce === undefined ? forms.plain : forms.nonced;
    const signature = sign(null, Buffer.from(fillBase(values), 'latin1'), key).toString('base64');
    return {
      'content-digest': digest,
      signature: `${signatureLabel}=:${signature}:`,
      'signature-input': fillInput(values),
    };
  };
}
