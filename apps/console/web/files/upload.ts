/** Uploads files as attachments. */
import { type Client } from '@muster/client';
import { type Attachment, type AttachmentKind } from '@muster/contract';
import { fileTexts } from '../messages/files.ts';

export interface UploadTarget {
  readonly targetType: Attachment['targetType'];
  readonly targetId: string;
}

/** Its message says why a file could not be attached. */
export class UploadError extends Error {}

const maxFileBytes = 50 * 1024 * 1024;

async function sha256Of(file: Blob): Promise<string> {
  // Browsers hash only on pages that are loaded securely.
  if (!isSecureContext) throw new UploadError(fileTexts.insecure);
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the message of an error response of the API. */
function messageOf(response: string): string {
  try {
    return (JSON.parse(response) as { readonly message: string }).message;
  } catch {
    return fileTexts.cut;
  }
}

/** Sends the file. `fetch` reports no progress of uploads. */
const sendFile = (
  { url, method, headers }: Awaited<ReturnType<Client['attachments']['create']>>['upload'],
  file: Blob,
  onProgress: (fraction: number) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    // The API may state another name of its host, and the console is served under the API's origin.
    const { pathname, search } = new URL(url, location.origin);
    request.open(method, pathname + search);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onload = () =>
      request.status < 300 ? resolve() : reject(new UploadError(messageOf(request.responseText)));
    request.onerror = () => reject(new UploadError(fileTexts.cut));
    request.send(file);
  });

/** Attaches the file. Throws an `UploadError` if it is refused, or an error of the API. */
export async function uploadFile(
  client: Client,
  target: UploadTarget,
  kind: AttachmentKind,
  file: File,
  onProgress: (fraction: number) => void,
): Promise<Attachment> {
  if (file.size > maxFileBytes) throw new UploadError(fileTexts.tooLarge(maxFileBytes));
  const { attachment, upload } = await client.attachments.create({
    ...{ ...target, kind, name: file.name, size: file.size, sha256: await sha256Of(file) },
    contentType: file.type === '' ? 'application/octet-stream' : file.type,
  });
  await sendFile(upload, file, onProgress);
  return attachment;
}
