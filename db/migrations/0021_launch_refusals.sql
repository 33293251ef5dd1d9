ALTER TABLE `launches` ADD `refusal_code` text;--> statement-breakpoint
ALTER TABLE `launches` ADD `refusal_request_id` text;