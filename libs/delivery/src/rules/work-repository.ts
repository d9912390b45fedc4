/**
 * Decides whether work is in the repository that a report names. Branches and pull requests of several
 * repositories can have the same name or number, so they identify work only together with their repository.
 */
import { parsePullUrl, repositoryAddress } from '@muster/contract';

/** The known data about the repository of an execution's work. */
export interface WorkRepository {
  /** The pull request with which the work was submitted, or else the one that was last reported. */
  readonly pull: { readonly url: string } | null;
  /** The repository and pull request in which a connected forge reported the work. */
  readonly observedPull: { readonly repositoryId: string; readonly number: number | null } | null;
  /** The linked repositories of the project. The current URL of each comes first, then the former ones. */
  readonly linkedRepositories: readonly LinkedUrls[];
  /** The URL of the project's own field `repository`. */
  readonly projectUrl: string | null;
}

interface LinkedUrls {
  readonly id: string;
  readonly urls: readonly string[];
}

/** The result `unknown` means that the project has several linked repositories, and the work may be in any. */
export type RepositoryMatch = 'same' | 'other' | 'unknown';

/**
 * Returns the linked repositories with this address. Only if none has it now, a former address counts,
 * because after a rename another repository may receive the old name.
 */
function findLinked(linked: readonly LinkedUrls[], address: string): readonly LinkedUrls[] {
  const current = linked.filter(({ urls: [url = ''] }) => repositoryAddress(url) === address);
  return current.length > 0 ? current : linked.filter((one) => hasAddress(one, address));
}

const hasAddress = ({ urls }: LinkedUrls, address: string): boolean =>
  urls.some((url) => repositoryAddress(url) === address);

/** Returns the linked repositories that may contain the work; undefined if nothing is known about it. */
function findRepositoriesOfWork({
  pull,
  observedPull: seen,
  linkedRepositories: linked,
}: WorkRepository): readonly LinkedUrls[] | undefined {
  const address = pull === null ? undefined : parsePullUrl(pull.url);
  const known = linked.find(({ id }) => id === seen?.repositoryId);
  if (address === undefined) return known === undefined ? undefined : [known];
  const isKnownPull = seen?.number === address.number;
  return known !== undefined && isKnownPull && hasAddress(known, address.repository)
    ? [known]
    : findLinked(linked, address.repository);
}

/** Compares the repository of an execution's work with the repository that has this URL. */
export function matchRepository(work: WorkRepository, url: string): RepositoryMatch {
  const { pull, linkedRepositories: linked, projectUrl } = work;
  const address = repositoryAddress(url);
  if (linked.length === 0) {
    const home = (pull === null ? undefined : parsePullUrl(pull.url)?.repository) ?? projectUrl;
    return home === null || repositoryAddress(home) === address ? 'same' : 'other';
  }
  const named = findLinked(linked, address);
  const homes = findRepositoriesOfWork(work);
  if (named.length === 0) return 'other';
  if (homes !== undefined) return homes.some((home) => named.includes(home)) ? 'same' : 'other';
  return linked.every((one) => named.includes(one)) ? 'same' : 'unknown';
}
