import { check, Check } from '../check.ts';
import { type Findings } from '../gather.ts';
import { hashOf } from '../steps/spec-edits.ts';
import { type CommentTruth, type Tour } from '../tour-state.ts';

const specsAtOnce = 8;

/** What must hold of what people wrote: specs and comments. */
export async function checkWords(tour: Tour, findings: Findings): Promise<Check[]> {
  return [await specsAreWhole(tour), threadsAreWhole(tour, findings)];
}

/** The first version is the file's and the newest is the last one acknowledged, byte for byte. */
async function specsAreWhole({ board, storyIds, specs, team: { gwen } }: Tour): Promise<Check> {
  const found = new Check('every spec is there byte for byte, as the file had it and as it was written last');
  const first = new Map(
    [...board.specs].map(([localId, content]) => [storyIds.get(localId) ?? localId, content]),
  );
  const waiting = [...specs];
  const compare = async (storyId: string, version: number | undefined, content: string): Promise<void> => {
    const { spec } = await gwen.api.storySpec.get({ storyId, ...(version !== undefined && { version }) });
    const which = version === undefined ? 'the newest version' : `version ${version}`;
    found.same(spec.contentHash, hashOf(content), `the hash of ${which} of ${storyId}`);
    found.that(spec.content === content, () => `${which} of ${storyId} has another content`);
  };
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [storyId, { content }] = next;
      await compare(storyId, undefined, content);
      const original = first.get(storyId);
      if (original !== undefined) await compare(storyId, 1, original);
    }
  };
  await Promise.all(Array.from({ length: specsAtOnce }, work));
  for (const storyId of first.keys())
    found.that(specs.has(storyId), () => `the spec of ${storyId} never went in`);
  found.detail = `${first.size} of the file, ${specs.size} now`;
  return found;
}

function threadsAreWhole({ comments }: Tour, { threads }: Findings): Check {
  return check('every comment is in its thread once, with its mentions and reactions', (found) => {
    const seen = new Set<string>();
    for (const [storyId, roots] of threads) {
      for (const root of roots) {
        for (const comment of [root, ...root.replies]) {
          found.that(!seen.has(comment.id), () => `the comment ${comment.id} stands twice`);
          seen.add(comment.id);
          const truth = comments.get(comment.id);
          if (truth === undefined) {
            found.fail(`the comment ${comment.id} is not one that was made`);
            continue;
          }
          found.same(comment.storyId, storyId, 'the story of a comment');
          found.same(comment.parentId, comment === root ? null : root.id, 'the parent of a comment');
          found.same(shown(comment), wanted(truth), `the comment ${comment.id}`);
        }
      }
    }
    for (const { id } of comments.values()) found.that(seen.has(id), () => `the comment ${id} is not there`);
    return `${seen.size} comments on ${threads.size} stories`;
  });
}

const wanted = ({ body, parentId, mentions, resolved, reactions }: CommentTruth): object => ({
  ...{ body, parentId },
  // What is deleted mentions nobody and has no reactions.
  mentions: body === null ? [] : mentions.toSorted(),
  resolved,
  reactions:
    body === null
      ? []
      : [...reactions]
          .filter(([, by]) => by.size > 0)
          .map(([emoji, by]) => `${emoji} ${by.size}`)
          .sort(),
});

interface Shown {
  readonly body: string | null;
  readonly parentId: string | null;
  readonly mentions: readonly string[];
  readonly resolvedAt: string | null;
  readonly reactions: readonly { readonly emoji: string; readonly count: number }[];
}

const shown = ({ body, parentId, mentions, resolvedAt, reactions }: Shown): object => ({
  ...{ body, parentId },
  mentions: mentions.toSorted(),
  resolved: resolvedAt !== null,
  reactions: reactions.map(({ emoji, count }) => `${emoji} ${count}`).sort(),
});
