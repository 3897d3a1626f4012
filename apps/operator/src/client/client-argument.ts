/** For help: the argument that names a client. */
export const CLIENT = 'its client_id, or its name if no other application has it';
