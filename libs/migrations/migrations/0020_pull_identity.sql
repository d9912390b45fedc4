-- A pull request is its repository and number. Work that was handed in by an address of before a rename is found by it.
alter table forge_repositories add column former_urls text[] not null default '{}';
-- The number of the pull request that work was handed in with, where another of the same branch took its place.
alter table forge_pulls add column replaces int;
