import { stripVTControlCharacters } from 'node:util';

type RuleCase<Subject extends readonly unknown[]> = readonly [name: string, ...subject: Subject];

/**
 * Checks a law on every case and throws one error that names all cases that break it, each with its reason. A
 * law without cases is a failure, too.
 */
export async function checkEachCase<Subject extends readonly unknown[]>(
  cases: Iterable<RuleCase<Subject>>,
  check: (...subject: Subject) => unknown,
  { concurrency = 1 }: { readonly concurrency?: number } = {},
): Promise<void> {
  const all = [...cases];
  const broken = new Map<string, string>();
  const queue = all.values();
  const checkQueued = async (): Promise<void> => {
    for (const [name, ...subject] of queue) {
      try {
        await check(...subject);
      } catch (error) {
        broken.set(name, stripVTControlCharacters(error instanceof Error ? error.message : String(error)));
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, checkQueued));
  if (all.length === 0) throw new Error('The law was checked on nothing.');
  if (broken.size === 0) return;
  const reasons = [...broken].map(([name, reason]) => `${name}\n${reason}`);
  const names = [...broken.keys()].join('\n  ');
  throw new Error(
    `${broken.size} of ${all.length} cases break the law:\n  ${names}\n\n${reasons.join('\n\n')}`,
  );
}
