/* The rows of the interface under "Endpoints", as they stand there. */

export type Row = { method: string; path: string; body: string[]; isOpen: boolean };

const open = (method: string, path: string, body = ''): Row => ({ method, path, body: words(body), isOpen: true });
const closed = (method: string, path: string, body = ''): Row => ({ method, path, body: words(body), isOpen: false });
const words = (list: string): string[] => list.split(' ').filter((word) => word !== '');

export const rows: Row[] = [
  closed('POST', '/employee/add/', 'first_name last_name email phone designation companyId salary'),
  closed('GET', '/employee/list/{company_id}/'),
  closed('GET', '/employee/list/activeUsers/{company_id}/'),
  closed('GET', '/employee/list/InactiveUsers/{company_id}/'),
  closed('GET', '/employee/me/{employee_id}/'),
  closed(
    'PATCH',
    '/api/employees/{_id}/',
    'first_name last_name name email phone designation salary isAdmin isTeamLeader is_active date_of_birth date_of_joining gender country_code',
  ),
  closed('PATCH', '/employee/update-picture/{_id}/', 'profilePicture'),
  closed('GET', '/api/performance/{company_id}/'),
  closed('GET', '/employees/search/{company_id}/'),

  closed('POST', '/tasklog/create/', 'task_id employee_id start_time end_time description'),
  closed('POST', '/tasklogs/bulk/create/{user_id}/', 'taskId userId startTime endTime description manualAdd'),
  closed('GET', '/taskLogs/task/{taskId}/'),
  closed('PUT', '/tasklogs/{taskLogId}/', 'startTime endTime description taskId userId'),
  closed('DELETE', '/api/tasklogs/delete/{pk}/'),

  open('POST', '/login/', 'email password'),
  open('POST', '/api/google-login/', 'token email name picture'),
  open('POST', '/api/apple-login/', 'token email name'),
  open('POST', '/verify-email/', 'email'),
  open('POST', '/otp-login/', 'email otp'),
  closed('POST', '/token-login/', 'email company_id company_name isAdmin'),

  closed('GET', '/api/tasks/chat/{task_id}/'),
  closed('POST', '/api/task-chats/', 'taskId sender ClientSender message mentionedEmails reply_to image'),
  closed('PATCH', '/api/edit-task-chats/{comment_id}/', 'message mentionedEmails'),
  closed('DELETE', '/api/taskchat/{comment_id}/'),
  closed('POST', '/api/like-chat/{employee_id}/{comment_id}/'),
  closed('POST', '/api/dislike-chat/{employee_id}/{comment_id}/'),

  open('POST', '/get-register-otp/', 'email'),
  open(
    'POST',
    '/api/create-company-and-employee/',
    'company_name email otp first_name last_name referral_code appleUserId',
  ),

  open('POST', '/reset/link/', 'email'),
  open('POST', '/reset/verify/', 'token new_password confirm_password'),
  closed('PUT', '/employee/password/{employee_id}/', 'current_password new_password confirm_password'),

  closed('GET', '/company/{company_id}/details/'),
  closed('PUT', '/company/{company_id}/update/', 'name timezone'),
  closed('GET', '/task-statistics/{company_id}/'),

  closed('GET', '/notifications/recipient/{recipient_id}/'),
  closed('PATCH', '/api/notifications/read/{notification_id}/'),
  closed('POST', '/mark_notifications_as_read/{user_id}/'),
  closed('DELETE', '/notifications/delete/', 'notification_ids'),
  closed('DELETE', '/notifications/{user_id}/clear/'),
  closed('GET', '/notifications/unread-count/{user_id}/'),
];

/** Query parameters, by the path that takes them; those of the last are all optional. */
export const queries: Record<string, string[]> = {
  '/employees/search/{company_id}/': ['q'],
  '/notifications/recipient/{recipient_id}/': words(
    'app_type category priorty isArchive later read starred isMention page',
  ),
};
