# Calls the functions of a recipe in Ruby, as lines of JSON tell it.
require 'json'
require_relative 'recipe'

def perform(told)
  { result: send(told['call'], *told['args']) }
rescue StandardError => e
  { error: e.inspect, ended: ended(e) }
end

$stdin.each_line do |line|
  puts JSON.generate(perform(JSON.parse(line)))
  $stdout.flush
end
