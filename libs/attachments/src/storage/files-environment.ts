/** The environment variables that name the storage of files. All services that open it have the same ones. */
import { z } from 'zod';

export const filesEnvironment = {
  /**
   * Folder for the files of attachments. Without it and without S3, files cannot be uploaded. The API and the worker
   * need the same folder.
   */
  FILES_FOLDER: z.string().optional(),
  /**
   * States that all copies of the services share FILES_FOLDER. By default, each copy checks this with an id in the
   * folder, and is not ready if it has another folder.
   */
  FILES_SHARED: z.stringbool().default(false),
  /** Address of S3, or of a server with the same interface, which stores files instead of a folder. */
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** The bucket for files. */
  S3_BUCKET: z.string().optional(),
  /** The region of the bucket. */
  S3_REGION: z.string().default('us-east-1'),
  /** The access key of S3. */
  S3_ACCESS_KEY_ID: z.string().optional(),
  /** The secret of the access key. */
  S3_SECRET_ACCESS_KEY: z.string().optional(),
};
export type FilesConfig = z.output<z.ZodObject<typeof filesEnvironment>>;

/** Returns a sentence if the variables contradict each other. */
export function describeFilesConfigFault(config: FilesConfig): string | undefined {
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config;
  const s3 = [S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY];
  const given = s3.filter((value) => value !== undefined).length;
  if (given !== 0 && given !== s3.length)
    return 'S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together';
  return undefined;
}
