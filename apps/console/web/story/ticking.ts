/** Saves the task boxes of a spec. Each tick creates a new version. */
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { isRefusal } from '@muster/client';
import { type Spec } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { setTaskState } from '../components/markdown-text.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { editTexts } from '../messages/story.ts';

type SpecVersion = Pick<Spec, 'version' | 'content'>;

/**
 * Returns a function that ticks a box. It returns false and shows a notice if the save fails. Boxes that are
 * ticked in a row are saved one after the other.
 */
export function useTaskBoxes(storyKey: string, spec: SpecVersion) {
  const client = useClient();
  const queries = useQueryClient();
  const latest = useRef<SpecVersion>(spec);
  if (spec.version > latest.current.version) latest.current = spec;
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const save = async (index: number, isChecked: boolean): Promise<boolean> => {
    const { version: baseVersion, content: text } = latest.current;
    const content = setTaskState(text, index, isChecked);
    try {
      if (content === undefined) return false;
      latest.current = (await client.storySpec.update({ storyId: storyKey, content, baseVersion })).spec;
      return true;
    } catch (error) {
      const body = isRefusal(error, 'version_mismatch') ? editTexts.changedSpec : errorText(error);
      showNotice({ tone: 'bad', title: editTexts.notSaved, body });
      return false;
    } finally {
      await queries.invalidateQueries({ queryKey: ['story', storyKey] });
    }
  };
  return (index: number, isChecked: boolean): Promise<boolean> => {
    const saved = before.current.then(() => save(index, isChecked));
    before.current = saved;
    return saved;
  };
}
