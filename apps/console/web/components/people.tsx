import { type Actor } from '@muster/contract';
import { t } from '../messages/index.ts';

const firstGrapheme = (word = ''): string =>
  new Intl.Segmenter().segment(word)[Symbol.iterator]().next().value?.segment ?? '';

const initialsOf = (name: string): string => {
  const words = name.trim().split(/\s+/);
  const last = words.length > 1 ? words.at(-1) : undefined;
  return `${firstGrapheme(words[0])}${firstGrapheme(last)}`.toLocaleUpperCase();
};

interface AvatarProps {
  readonly name: string;
  readonly kind: 'member' | 'agent' | 'system';
}

/** Shows members as circles and agents as squares. */
export const Avatar = ({ name, kind }: AvatarProps) => (
  <span className="avatar" data-kind={kind} aria-hidden="true" title={name}>
    {initialsOf(name)}
  </span>
);

/** Returns the display name of an actor. Members and agents keep their names after they are removed. */
export const actorNameOf = (actor: Pick<Actor, 'kind' | 'name'> | null): string =>
  actor === null ? t.people.unassigned : actor.kind === 'system' ? t.people.system : actor.name;
