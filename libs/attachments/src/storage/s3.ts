/** Stores files in a bucket of S3, or of a server with the same interface. */
import { openAsBlob } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type ReadableStream } from 'node:stream/web';
import { AwsClient } from 'aws4fetch';
import { type FileStorage } from './storage.ts';

export interface S3Options {
  /** The address of the server without the bucket, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The time limit of a request without a file, in milliseconds. */
const requestTimeoutMillis = 10_000;
/** The time limit of an upload or download, in milliseconds. */
const transferTimeoutMillis = 120_000;

export function createS3Storage({ endpoint, bucket, region, ...credentials }: S3Options): FileStorage {
  const client = new AwsClient({ ...credentials, region, service: 's3', retries: 2 });
  const bucketUrl = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;

  /** Sends a request. Throws unless the response is an expected one, by default a success. */
  const send = async (
    path: string,
    init: RequestInit & { readonly method: string },
    isExpected = ({ ok }: Response) => ok,
  ): Promise<Response> => {
    const response = await client.fetch(bucketUrl + path, {
      signal: AbortSignal.timeout(requestTimeoutMillis),
      ...init,
    });
    if (isExpected(response)) return response;
    await response.body?.cancel();
    throw new Error(`S3 answered ${init.method} with ${response.status}`);
  };

  return {
    incomingFolder: join(tmpdir(), 'muster-uploads'),
    put: async (key, { path, sha256 }) => {
      const response = await send(`/${key}`, {
        method: 'PUT',
        body: await openAsBlob(path),
        // The server compares the digest, and stores nothing if it differs.
        headers: { 'x-amz-content-sha256': sha256, 'content-type': 'application/octet-stream' },
        signal: AbortSignal.timeout(transferTimeoutMillis),
      });
      await response.body?.cancel();
    },
    open: async (key, range) => {
      const response = await send(
        `/${key}`,
        {
          method: 'GET',
          ...(range !== undefined && { headers: { range: `bytes=${range.start}-${range.end}` } }),
          signal: AbortSignal.timeout(transferTimeoutMillis),
        },
        // Some servers ignore ranges and send the whole file.
        ({ status }) => status === (range === undefined ? 200 : 206) || status === 404,
      );
      if (response.status === 404 || response.body === null) {
        await response.body?.cancel();
        return response.status === 404 ? undefined : Readable.from([]);
      }
      return Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    },
    remove: async (key) => {
      const response = await send(`/${key}`, { method: 'DELETE' }, ({ ok, status }) => ok || status === 404);
      await response.body?.cancel();
    },
    check: async () => {
      await send('', { method: 'HEAD' });
    },
  };
}
