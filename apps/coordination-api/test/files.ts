/** Attaches files over HTTP, as a client with a token does. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client } from '@muster/client';
import { type InputOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type ApiInstance, type RawAnswer } from './api.ts';

export const createFilesFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'muster-files-'));

/** Returns the path of an address in this API, whose port is not in its configuration. */
export const pathOfAddress = (address: string): string => {
  const { pathname, search } = new URL(address);
  return pathname + search;
};

type CreateInput = InputOf<Registry['attachments']['create']>;

export const describeFile = (content: Uint8Array | string) => ({
  size: Buffer.byteLength(content),
  sha256: createHash('sha256').update(content).digest('hex'),
});

/** Declares a file for this content. */
export const declareFile = (
  client: Client,
  target: Pick<CreateInput, 'targetType' | 'targetId'>,
  content: Uint8Array | string,
  more: Partial<CreateInput> = {},
) =>
  client.attachments.create({
    ...{ ...target, name: 'note.txt', contentType: 'text/plain' },
    ...describeFile(content),
    ...more,
  });

export const putFile = (api: ApiInstance, url: string, content: Uint8Array | string): Promise<RawAnswer> =>
  api.request(pathOfAddress(url), {
    method: 'PUT',
    body: content,
    headers: { 'content-type': 'application/octet-stream' },
  });

/** Declares and uploads a file. Returns the stored attachment. */
export async function storeFile(api: ApiInstance, ...file: Parameters<typeof declareFile>) {
  const [client, , content] = file;
  const { attachment, upload } = await declareFile(...file);
  const { status, body } = await putFile(api, upload.url, content);
  if (status !== 200) throw new Error(`the upload was refused: ${JSON.stringify(body)}`);
  return (await client.attachments.get({ attachmentId: attachment.id })).attachment;
}

/** Downloads a file, whatever the status of the response. */
export async function downloadFile(api: ApiInstance, url: string | null) {
  const response = await fetch(new URL(pathOfAddress(url ?? ''), api.url()));
  return {
    status: response.status,
    headers: response.headers,
    content: Buffer.from(await response.arrayBuffer()),
  };
}

/** Lists all files below a folder, except the one with the id of the folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name !== '.muster-files').map(({ name }) => name);
}
