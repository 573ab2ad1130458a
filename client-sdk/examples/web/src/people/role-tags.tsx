import type { JSX } from 'preact';
import type { Employee } from 'work-management-client';

/** What sets somebody apart: their roles, and that they have not come in yet. */
export function RoleTags({ person }: { person: Employee }): JSX.Element {
  const { isAdmin, isTeamLeader, invitationStatus } = person;
  return (
    <span class="tags">
      {isAdmin && <span class="tag">Admin</span>}
      {isTeamLeader && <span class="tag">Team leader</span>}
      {invitationStatus === 'pending' && <span class="tag waits">Invited</span>}
    </span>
  );
}
