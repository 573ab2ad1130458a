/* Nobody is asked who they are: the company and the person that the bench measures with. */

export const companyId = Number(process.env['COMPANY_ID']);
export const viewerId = Number(process.env['EMPLOYEE_ID']);
