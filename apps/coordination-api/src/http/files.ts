/** The uploads and downloads of attachments, and the downloads of exports. They carry no token, and their addresses are signed. */
import { type Readable } from 'node:stream';
import {
  type FilesContext,
  filesPath,
  openArchive,
  openFile,
  receiveFile,
  type RequestedAddress,
} from '@muster/attachments';
import {
  type CallFacts,
  createCallRecorder,
  createConcurrencyLimiter,
  createMemoryStore,
  type Metrics,
  networkOf,
  type Rate,
  requireWithinLimits,
  type Service,
} from '@muster/http';
import { serviceUnavailable, tooManyRequests } from '@muster/contract';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

export interface FileRouteOptions extends Omit<FilesContext, 'onStorageError'> {
  /** Rate limit per address for requests whose address is not valid. */
  readonly refusedRequestRate: Rate;
  readonly releaseSlot: Service['releaseSlot'];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** The numbers of uploads that a process receives at the same time. */
const maxUploads = 32;
const maxUploadsPerOrganization = 8;

interface FileRoute {
  Params: { orgId: string; id: string };
  Querystring: { expires?: unknown; signature?: unknown };
}

type FileRequest = FastifyRequest<FileRoute>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const addressOf = ({ method, params, query }: FileRequest): RequestedAddress => ({
  ...{ method: method === 'PUT' ? 'PUT' : 'GET', orgId: params.orgId, attachmentId: params.id },
  ...{ expires: textOf(query.expires), signature: textOf(query.signature) },
});

export function addFileRoutes(app: FastifyInstance, options: FileRouteOptions): void {
  const { pool, storage, environment, scanner, refusedRequestRate, releaseSlot, logger } = options;
  const recordUpload = createCallRecorder('attachments.upload', options);
  const store = createMemoryStore();
  const uploads = createConcurrencyLimiter(maxUploads);
  const context: FilesContext = {
    ...{ pool, storage, environment, scanner },
    onStorageError: (error) => {
      logger.warn({ err: error }, 'the storage or the scanner of files is unavailable');
    },
  };
  const limitOf = ({ ip }: FastifyRequest) => ({ key: `file ${networkOf(ip)}`, rate: refusedRequestRate });
  // Valid requests get their share back, so that only refused ones count.
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    requireWithinLimits(await store.take([limitOf(request)]), 'unknown_tokens');
  };
  const enter = (orgId: string): (() => void) => {
    const admission = uploads.acquire([{ key: orgId, most: maxUploadsPerOrganization }]);
    if ('leave' in admission) return admission.leave;
    throw admission.full === null
      ? serviceUnavailable('too_many_uploads')
      : tooManyRequests('too_many_uploads', 1);
  };

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => {
      done(null, payload);
    });
    const url = `${filesPath}/:orgId/:id`;
    scope.put(url, { onRequest, config: { readsStream: true } }, async (request: FileRequest, reply) => {
      const { orgId } = request.params;
      const facts: CallFacts = { orgId };
      await recordUpload(request, facts, async () => {
        const length = request.headers['content-length'];
        // An upload waits for its sender most of the time, and causes little load.
        releaseSlot(request);
        const leave = enter(orgId);
        try {
          await receiveFile(context, {
            address: addressOf(request),
            contentLength: length === undefined ? undefined : Number(length),
            body: (request.body as Readable | undefined) ?? request.raw,
          });
        } finally {
          leave();
        }
        await store.refund([limitOf(request)]);
      });
      return reply.header('cache-control', 'no-store').send({ stored: true });
    });
    const addDownload = (
      path: string,
      operation: string,
      open: (request: FileRequest) => ReturnType<typeof openFile>,
    ): void => {
      const record = createCallRecorder(operation, options);
      scope.get<FileRoute>(path, { onRequest, exposeHeadRoute: false }, async (request, reply) => {
        const facts: CallFacts = { orgId: request.params.orgId };
        const { status = 200, headers, content } = await record(request, facts, () => open(request));
        await store.refund([limitOf(request)]);
        releaseSlot(request);
        return reply.status(status).headers(headers).send(content);
      });
    };
    addDownload(url, 'attachments.download', (request) =>
      openFile(context, addressOf(request), {
        range: request.headers.range,
        ifRange: textOf(request.headers['if-range']) || undefined,
      }),
    );
    addDownload(`${filesPath}/:orgId/exports/:id`, 'exports.download', ({ params, query }) =>
      openArchive(context, {
        ...{ orgId: params.orgId, exportId: params.id },
        ...{ expires: textOf(query.expires), signature: textOf(query.signature) },
      }),
    );
  });
}
