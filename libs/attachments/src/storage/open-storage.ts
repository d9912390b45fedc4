/** Opens the storage that the configuration of a service names. */
import { type Pool, queryOutsideOrg, sql } from '@muster/driver';
import { type FilesConfig } from './files-environment.ts';
import { createFolderStorage, type FolderStorage } from './folder.ts';
import { createS3Storage } from './s3.ts';
import { type FileStorage } from './storage.ts';

/** A check of the readiness of a service, as libs/http defines it. */
interface StorageCheck {
  readonly name: string;
  readonly needed: boolean;
  readonly run: () => Promise<string | undefined>;
}

export interface OpenStorage {
  /** Undefined if no storage is configured. Then files can be neither uploaded nor downloaded. */
  readonly storage: FileStorage | undefined;
  readonly checks: readonly StorageCheck[];
}

/** Returns the id that all services must find in their folder. The first service states it. */
async function findSharedFolderId(pool: Pool, id: string): Promise<string | undefined> {
  const [row] = await queryOutsideOrg(
    pool,
    sql<{ id: string }>`select app.agree_on_file_folder(${id}) as id`,
  );
  return row?.id;
}

/** Checks that all copies of all services have the same folder. An unavailable folder is reported by another check. */
const createSharingCheck = (pool: Pool, storage: FolderStorage): StorageCheck => ({
  name: 'files_shared',
  needed: true,
  run: async () => {
    const id = await storage.readFolderId().catch(() => undefined);
    if (id === undefined || (await findSharedFolderId(pool, id)) === id) return undefined;
    return 'another copy of a service has another FILES_FOLDER; share one folder, or store files in S3';
  },
});

/** Opens the storage. `pool` is the primary database, which knows the folder that all services share. */
export function openFileStorage(config: FilesConfig, pool: Pool): OpenStorage {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, FILES_FOLDER: folder } = config;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const checkOf = (storage: FileStorage): StorageCheck => ({
    name: 'files',
    needed: false,
    run: async () => {
      await storage.check();
      return undefined;
    },
  });
  if (
    endpoint !== undefined &&
    bucket !== undefined &&
    accessKeyId !== undefined &&
    secretAccessKey !== undefined
  ) {
    const storage = createS3Storage({
      endpoint,
      bucket,
      region: config.S3_REGION,
      accessKeyId,
      secretAccessKey,
    });
    return { storage, checks: [checkOf(storage)] };
  }
  if (folder === undefined) return { storage: undefined, checks: [] };
  const storage = createFolderStorage(folder);
  const sharing = config.FILES_SHARED ? [] : [createSharingCheck(pool, storage)];
  return { storage, checks: [checkOf(storage), ...sharing] };
}
