/** The page form for offline machines: it uploads an activation request and downloads the answer. */
import { sql } from '@muster/driver';
import { Busboy } from '@fastify/busboy';
import { html, type Html, malformedRequest } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerAirGapRequest } from '../air-gap/answer.ts';
import { maxRequestLength, parseAirGapRequest } from '../air-gap/request.ts';
import { hashKey, parseKey } from '../key/key.ts';
import { type Db, RefusedError } from '../operators/transaction.ts';
import { type OpenedVault } from '../vault.ts';

/** The size limit of an uploaded form in bytes: a request file, and the multipart parts that a browser adds. */
const maxFormBytes = maxRequestLength + 4_096;

const requestFieldName = 'request';

/** Returns the file of the form, or an empty text without one. Rejects if the form is incomplete. */
const readUploadedFile = (contentType: string, body: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const form = new Busboy({ headers: { 'content-type': contentType }, limits: { parts: 4 } });
    form.on('file', (name, file) => {
      file.on('error', reject);
      file.on('data', (chunk: Buffer) => {
        if (name === requestFieldName) chunks.push(chunk);
      });
    });
    form.on('error', reject);
    form.on('finish', () => {
      resolve(Buffer.concat(chunks).toString());
    });
    form.end(body);
  });

/** Registers a parser that passes the file of a form as the body. */
export function addUploadParser(app: FastifyInstance): void {
  app.addContentTypeParser<Buffer>(
    /^multipart\/form-data/,
    { parseAs: 'buffer', bodyLimit: maxFormBytes },
    async (request: FastifyRequest, body: Buffer): Promise<UploadedForm> => {
      const contentType = request.headers['content-type'] ?? '';
      const file = await readUploadedFile(contentType, body).catch(() => undefined);
      if (file === undefined) throw malformedRequest('malformed_request', 'The form is incomplete.');
      return { file };
    },
  );
}

interface UploadedForm {
  readonly file: string;
}

function uploadedRequestOf({ body }: FastifyRequest): string {
  const { file } = (body ?? {}) as Partial<UploadedForm>;
  if (file === undefined || file === '')
    throw new RefusedError('no_request', 'choose the request file that the program wrote');
  return file;
}

export const uploadForm = (action: string): Html =>
  html`<section class="card">
    <h2>A machine without a connection</h2>
    <form method="post" action="${action}" enctype="multipart/form-data">
      <label for="${requestFieldName}">Request file that the program wrote</label>
      <div class="ask">
        <input
          class="field"
          id="${requestFieldName}"
          name="${requestFieldName}"
          type="file"
          required
        /><button class="button" data-kind="main">Download answer</button>
      </div>
      <p class="muted">Copy the answer to that machine. It then counts as one of the license’s machines.</p>
    </form>
  </section>`;

/** The answer file to download. If the answer is a refusal, the page shows its message instead. */
export interface AirGapDownload {
  readonly answer: string;
  readonly refusalMessage: string | undefined;
}

/** Returns the uploaded request. Throws Refused if it is for another license. */
export async function answerUploadedRequest(
  db: Db,
  openedVault: OpenedVault,
  { request, licenseId, seconds }: { request: FastifyRequest; licenseId: string; seconds: number },
): Promise<AirGapDownload> {
  const activationRequest = parseAirGapRequest(uploadedRequestOf(request));
  const prefixes = openedVault.products.map(({ keyPrefix }) => keyPrefix);
  const parsed = parseKey(activationRequest.licenseKey, prefixes);
  const known =
    parsed.kind === 'key' &&
    (await db.all(
      sql`select from licenses.licenses where id = ${licenseId} and key_hash = ${hashKey(parsed.key)}`,
    ));
  if (known === false || known.length === 0)
    throw new RefusedError('other_license', 'this request is for another license key');
  const { answer, outcome } = await answerAirGapRequest(db, openedVault, activationRequest, { seconds });
  return { answer, refusalMessage: outcome.kind === 'refused' ? outcome.message : undefined };
}

export const sendAnswerFile = (reply: FastifyReply, answer: string): FastifyReply =>
  reply
    .header('content-type', 'text/plain; charset=utf-8')
    .header('content-disposition', 'attachment; filename="license-answer.txt"')
    .header('x-content-type-options', 'nosniff')
    .send(`${answer}\n`);
