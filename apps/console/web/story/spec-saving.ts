/** Saves specs without overwriting the changes of others. */
import { type Client, isRefusal } from '@muster/client';
import { type Spec } from '@muster/contract';
import { importWithRetry } from '../components/lazily.ts';

export type SpecVersion = Pick<Spec, 'version' | 'content'>;

interface SpecChange {
  readonly storyKey: string;
  readonly base: SpecVersion;
  readonly content: string;
  /** A summary of the change; empty for none. */
  readonly note?: string;
  /** Returns false if the change must not be merged into the current version; asked after that is read. */
  readonly mayMerge?: () => Promise<boolean>;
}

/** The saved version, and the version by someone else that it includes; or the version that it conflicts with. */
type SpecOutcome =
  | { readonly saved: Spec; readonly merged: Spec | undefined }
  | { readonly conflictsWith: Spec };

/** Saves the change. If others have saved versions since, their changes are merged unless they overlap. */
export async function saveSpec(
  { storySpec }: Client,
  { storyKey: storyId, base, content: changed, note = '', mayMerge }: SpecChange,
): Promise<SpecOutcome> {
  let [from, content] = [base, changed];
  let merged: Spec | undefined;
  for (;;) {
    try {
      const { spec } = await storySpec.update({
        ...{ storyId, content, baseVersion: from.version, ...(note !== '' && { note }) },
      });
      return { saved: spec, merged };
    } catch (error) {
      if (!isRefusal(error, 'version_mismatch')) throw error;
      const { mergeTexts } = await importWithRetry(() => import('../editor/merge-texts.ts'));
      const { spec: theirs } = await storySpec.get({ storyId });
      const both =
        (await mayMerge?.()) === false ? undefined : mergeTexts(from.content, content, theirs.content);
      if (both === undefined) return { conflictsWith: theirs };
      [from, content, merged] = [theirs, both, theirs];
    }
  }
}
