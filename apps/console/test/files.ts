/** Files for specs: uploads over HTTP, pictures and test reports. */
import { createHash } from 'node:crypto';
import { type Client } from '@muster/client';
import { type Attachment, type InputOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { PNG } from 'pngjs';
import { type House } from './house.ts';

type Declared = Omit<InputOf<Registry['attachments']['create']>, 'size' | 'sha256'>;

/** Attaches a file like a program. */
export async function attachFile(
  house: House,
  client: Client,
  { content, ...declared }: Declared & { readonly content: Buffer },
): Promise<Attachment> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  const { attachment, upload } = await client.attachments.create({
    ...{ ...declared, size: content.length, sha256 },
  });
  const { pathname, search } = new URL(upload.url, house.url());
  const { method, headers } = upload;
  const answer = await fetch(`${house.url()}${pathname}${search}`, { method, headers, body: content });
  if (!answer.ok) throw new Error(`the upload was refused: ${await answer.text()}`);
  return attachment;
}

/** A picture in one color. */
export function pictureOfColor(red: number, green: number, blue: number): Buffer {
  const picture = new PNG({ width: 320, height: 200 });
  for (let at = 0; at < picture.data.length; at += 4) picture.data.set([red, green, blue, 255], at);
  return PNG.sync.write(picture);
}

/** A report of twelve tests, some of which failed. */
export function junitReport(failedNames: readonly string[]): Buffer {
  const cases = Array.from({ length: 12 }, (_, nth) => {
    const name = failedNames[nth];
    return name === undefined
      ? `<testcase name="test ${nth}" time="0.5"/>`
      : `<testcase name="${name}" time="0.5"><failure message="no"/></testcase>`;
  });
  return Buffer.from(
    `<testsuite name="all" tests="12" failures="${failedNames.length}">${cases.join('')}</testsuite>`,
  );
}
