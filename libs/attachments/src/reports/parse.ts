/** Reads the results of tests from an uploaded file. */
import { createReadStream } from 'node:fs';
import { type TestReport } from '@muster/contract';
import { type ReceivedFile } from '../storage/storage.ts';
import { createJunitReader } from './junit.ts';
import { type ReportReader } from './report.ts';
import { createTapReader } from './tap.ts';

/** Larger reports are stored without counts. */
const maxReportBytes = 10 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * Returns the results, or null if the report is too large or is not complete and valid. The file is read in pieces, so
 * that other requests are answered in between.
 */
export async function readTestReport({ path, size }: ReceivedFile): Promise<TestReport | null> {
  if (size > maxReportBytes) return null;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let reader: ReportReader | undefined;
  try {
    for await (const chunk of createReadStream(path, {
      highWaterMark: chunkBytes,
    }) as AsyncIterable<Buffer>) {
      const text = decoder.decode(chunk, { stream: true });
      reader ??= text.trimStart().startsWith('<') ? createJunitReader() : createTapReader();
      reader.write(text);
    }
    decoder.decode();
    return reader?.end() ?? null;
  } catch {
    return null;
  }
}
