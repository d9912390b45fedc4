/** Requests for a part of a file (RFC 9110, section 14), which browsers send to play videos. */
import { type ByteRange } from '../storage/storage.ts';

/** The headers of a request that ask for a part of a file. */
export interface RangeHeaders {
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
}

/**
 * Returns the requested range; undefined if the whole file is served. That is also the answer to several ranges, to a
 * range outside of the file, and to a range of a file with another ETag.
 */
export function requestedRange(
  { range, ifRange }: RangeHeaders,
  file: { readonly size: number; readonly etag: string },
): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? [];
  if (first + last === '' || (ifRange !== undefined && ifRange !== file.etag)) return undefined;
  const start = first === '' ? Math.max(0, file.size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? file.size - 1 : Math.min(Number(last), file.size - 1);
  return start <= end ? { start, end } : undefined;
}
