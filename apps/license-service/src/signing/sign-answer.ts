/**
 * Signs answers by RFC 9421, HTTP Message Signatures. Clients detect an answer that was forged, changed or
 * meant for another request. The signature covers the digest of the request body and the header
 * License-Nonce. So an old answer cannot be replayed.
 */
import { hash, type KeyObject, sign } from 'node:crypto';
import { component, createSignatureSync } from 'http-message-sig';

const ofRequest = (name: string) => component(name, { req: true });
const always = ['@status', 'content-digest', ofRequest('@method'), ofRequest('@path'), ofRequest('@query')];

/** True for each optional part that a request has. */
interface Has {
  readonly body: boolean;
  readonly nonce: boolean;
}

const componentsOf = (has: Has) => [
  ...always,
  ...(has.body ? [ofRequest('content-digest')] : []),
  ...(has.nonce ? [ofRequest('license-nonce')] : []),
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
const authority = /^https?:\/\/[^/?#]*/i;

/** Returns the path and query of a target; `/` for targets without a path, such as `*` or an authority. */
function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target;
  if (!authority.test(target)) return '/';
  const rest = target.replace(authority, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Percent-encodes bytes of a target that are not valid in URLs, like client libraries do. */
const asciiTarget = (target: string): string =>
  pathAndQuery(target).replace(
    /[^\x21-\x7e]|#/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

/** An arbitrary host. It is not signed, because the service may have several host names. */
const origin = 'http://license-service';

/** The label of our signature, to tell it from signatures that proxies may add. */
const label = 'license';

const anyStatus = 599;

/**
 * The placeholders for the variable parts of a text to sign. None of them can occur elsewhere in the text,
 * not even in a key ID.
 */
const places = {
  status: `"@status": ${anyStatus}`,
  digest: 'DIGEST-HERE',
  bodyDigest: 'ASKED-BODY-HERE',
  method: 'METHODHERE',
  path: '/PATH-HERE',
  query: '?QUERY-HERE',
  nonce: 'NONCE-HERE',
  created: '1111111111',
} as const;
type Place = keyof typeof places;
type Values = Readonly<Record<Place, string>>;

/** Splits a text at its placeholders and returns a function that fills them in. */
function cut(text: string): (values: Values) => string {
  const pattern = new RegExp(
    `(${Object.values(places)
      .map((place) => place.replace('?', '\\?'))
      .join('|')})`,
  );
  const nameOf = new Map(Object.entries(places).map(([name, place]) => [place as string, name as Place]));
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

interface Form {
  /** Fills in the signature base, the text to sign. */
  readonly base: (values: Values) => string;
  readonly input: (values: Values) => string;
}

/**
 * Lets the library build the texts of an answer with placeholders. They are the same for all answers by one key. Building
 * them takes twice as long as signing, so each form is built once.
 */
function makeForm(kid: string, has: Has): Form {
  let base = '';
  const { signatureInput } = createSignatureSync(
    {
      kind: 'response',
      status: anyStatus,
      fields: [{ name: 'content-digest', value: places.digest }],
      request: {
        ...{ kind: 'request', method: places.method, targetUri: origin + places.path + places.query },
        fields: [
          { name: 'content-digest', value: places.bodyDigest },
          { name: 'license-nonce', value: places.nonce },
        ],
      },
    },
    {
      label,
      components: componentsOf(has),
      parameters: { created: Number(places.created), keyid: kid, alg: 'ed25519' },
      signer: {
        algorithm: 'ed25519',
        sign: (bytes) => {
          base = Buffer.from(bytes).toString('latin1');
          return bytes;
        },
      },
    },
  );
  return { base: cut(base), input: cut(signatureInput) };
}

export type SignAnswer = (
  asked: SignedRequest,
  answer: { readonly status: number; readonly content: string | Buffer },
) => Record<'content-digest' | 'signature' | 'signature-input', string>;

/** Creates a function that signs answers with one key. */
export function answerSigner({ kid, key }: { readonly kid: string; readonly key: KeyObject }): SignAnswer {
  const pair = (body: boolean) => ({
    plain: makeForm(kid, { body, nonce: false }),
    nonced: makeForm(kid, { body, nonce: true }),
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
    const { base, input } = nonce === undefined ? forms.plain : forms.nonced;
    const signature = sign(null, Buffer.from(base(values), 'latin1'), key).toString('base64');
    return {
      'content-digest': digest,
      signature: `${label}=:${signature}:`,
      'signature-input': input(values),
    };
  };
}
