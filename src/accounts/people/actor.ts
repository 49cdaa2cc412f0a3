import type { Person } from '#storage/database/people-tables.ts';

/** How a person is named to others for what they do: by their e-mail, marked if it may be somebody else's. */
export function actorOf({
  email,
  email_confirmed_at: confirmedAt,
}: Pick<Person, 'email' | 'email_confirmed_at'>): string {
  return confirmedAt === null ? `${email} (not confirmed)` : email;
}
