/* oxlint-disable import/no-unassigned-import -- each file registers its claims. */
/*
 * The whole interface and the whole contract, claim by claim, against one running service. Each section is a file beside; it
 * makes companies of its own, so that none depends on another one.
 */
import './claims/interface.ts';
import './claims/wire-bodies.ts';
import './claims/wire-answers.ts';
import './claims/sign-in.ts';
import './claims/expiry.ts';
import './claims/codes-and-passwords.ts';
import './claims/invitations.ts';
import './claims/keys-and-bound-sessions.ts';
import './claims/rights.ts';
import './claims/employees.ts';
import './claims/task-logs.ts';
import './claims/comments.ts';
import './claims/company.ts';
import './claims/notifications.ts';
import './claims/additions.ts';
import './claims/events.ts';
import './claims/mail.ts';
