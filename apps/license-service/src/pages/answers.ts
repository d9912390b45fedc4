/** The page form for offline machines: it uploads an activation request and downloads the answer. */
import { sql } from '@muster/driver';
import { Busboy } from '@fastify/busboy';
import { html, type Html, malformed } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerRequest } from '../air-gap/answer.ts';
import { longestRequest, readRequest } from '../air-gap/request.ts';
import { hashOfKey, parseKey } from '../key/key.ts';
import { type Db, Refused } from '../operators/transaction.ts';
import { type OpenedVault } from '../vault.ts';

/** The size limit of an uploaded form in bytes: a request file, and the multipart parts that a browser adds. */
const mostBytes = longestRequest + 4_096;

const field = 'request';

/** Returns the file of the form, or an empty text without one. Rejects if the form is incomplete. */
const fileIn = (contentType: string, body: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const form = new Busboy({ headers: { 'content-type': contentType }, limits: { parts: 4 } });
    form.on('file', (name, file) => {
      file.on('error', reject);
      file.on('data', (chunk: Buffer) => {
        if (name === field) chunks.push(chunk);
      });
    });
    form.on('error', reject);
    form.on('finish', () => {
      resolve(Buffer.concat(chunks).toString());
    });
    form.end(body);
  });

/** Registers a parser that passes the file of a form as the body. */
export function takeUploads(app: FastifyInstance): void {
  app.addContentTypeParser<Buffer>(
    /^multipart\/form-data/,
    { parseAs: 'buffer', bodyLimit: mostBytes },
    async (request: FastifyRequest, body: Buffer): Promise<Upload> => {
      const contentType = request.headers['content-type'] ?? '';
      const file = await fileIn(contentType, body).catch(() => undefined);
      if (file === undefined) throw malformed('malformed_request', 'The form is incomplete.');
      return { file };
    },
  );
}

interface Upload {
  readonly file: string;
}

function requestIn({ body }: FastifyRequest): string {
  const { file } = (body ?? {}) as Partial<Upload>;
  if (file === undefined || file === '')
    throw new Refused('no_request', 'choose the request file that the program wrote');
  return file;
}

export const uploadForm = (action: string): Html =>
  html`<section>
    <h2>A machine without a connection</h2>
    <form method="post" action="${action}" enctype="multipart/form-data">
      <label for="${field}">Request file that the program wrote</label>
      <div class="ask">
        <input id="${field}" name="${field}" type="file" required /><button>Download answer</button>
      </div>
      <p class="quiet">Copy the answer to that machine. It then counts as one of the license’s machines.</p>
    </form>
  </section>`;

/** The answer file to download. If the answer is a refusal, the page shows its message instead. */
export interface AirGapDownload {
  readonly answer: string;
  readonly refused: string | undefined;
}

/** Returns the uploaded request. Throws Refused if it is for another license. */
export async function answerUpload(
  db: Db,
  opened: OpenedVault,
  { request, licenseId, seconds }: { request: FastifyRequest; licenseId: string; seconds: number },
): Promise<AirGapDownload> {
  const asked = readRequest(requestIn(request));
  const prefixes = opened.products.map(({ keyPrefix }) => keyPrefix);
  const parsed = parseKey(asked.licenseKey, prefixes);
  const known =
    parsed.kind === 'key' &&
    (await db.all(
      sql`select from licenses.licenses where id = ${licenseId} and key_hash = ${hashOfKey(parsed.key)}`,
    ));
  if (known === false || known.length === 0)
    throw new Refused('other_license', 'this request is for another license key');
  const { answer, outcome } = await answerRequest(db, opened, asked, { seconds });
  return { answer, refused: outcome.kind === 'refused' ? outcome.message : undefined };
}

export const sendAnswer = (reply: FastifyReply, answer: string): FastifyReply =>
  reply
    .header('content-type', 'text/plain; charset=utf-8')
    .header('content-disposition', 'attachment; filename="license-answer.txt"')
    .header('x-content-type-options', 'nosniff')
    .send(`${answer}\n`);
